import type { IncomingHttpHeaders } from 'node:http'
import type { ParameterizedContext } from 'koa'
import { GatewayError } from '../errors.ts'
import { type Continuing, continued } from '../kept/conversation.ts'
import type { Holder, Keeping } from '../kept/keeping.ts'
import { KeptConversations } from '../kept/kept-conversations.ts'
import { KeptResponses, type KeptResponsesServices } from '../kept/kept-responses.ts'
import { ContractViolation } from '../plugins/faults.ts'
import { type CallContext, ClientCall } from '../protocol/call.ts'
import type { ClientProtocol } from '../protocol/client-protocol.ts'
import { FormBody } from '../protocol/form-body.ts'
import { JsonBody, LARGE, readLarge } from '../protocol/json-body.ts'
import type { KeptReply } from '../protocol/kept-reply.ts'
import { sealerOf, summaryIn } from '../protocol/responses/compactions.ts'
import { type CallWorkers, translated, translationOf } from '../protocol/translation.ts'
import type { RequestCheck } from '../protocol/validation.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { Call, EndpointName, ModelId, Principal } from '../sdk/api.ts'
import type { Admission, CallMemory } from './admission.ts'
import { readBody } from './read-body.ts'
import { type Form, hasForm, readForm } from './read-form.ts'

/** The services that read the bodies of calls. */
export interface BodyServices extends KeptResponsesServices {
  readonly admission: Admission
  readonly scanner: CallWorkers
  /** The folder of uploaded files. */
  readonly uploads: string
}

/** A call whose body is read. */
export interface BodyOwner {
  readonly id: string
  readonly endpoint:
    | {
        readonly name: EndpointName
        readonly check: RequestCheck | 'no body'
        readonly form?: 'always' | 'maybe' | undefined
        readonly protocol?: ClientProtocol | undefined
        readonly keepsReplies?: true | undefined
        readonly continues?: true | undefined
      }
    | undefined
  readonly generation: { readonly table: RoutingTable; readonly keeping: Keeping | undefined } | undefined
  /** Set by the time the body is read, if a link sets it. */
  readonly principal: Principal | undefined
  readonly upstreamHeaders: Readonly<Record<string, string>>
}

/** The body of a call to an endpoint of `/v1`, from its first use until the call is settled. */
export class CallBody {
  readonly #owner: BodyOwner
  readonly #ctx: Pick<ParameterizedContext, 'req' | 'res'>
  readonly #services: BodyServices
  #reading: Promise<Call> | undefined
  #context: BodyContext | undefined
  #form: Form | undefined
  #disk: CallMemory | undefined
  /** Start and end of the reading, in monotonic milliseconds. */
  #beganAt = Number.POSITIVE_INFINITY
  #endedAt = Number.POSITIVE_INFINITY
  /** As links see it. Undefined until it is read. */
  call: Call | undefined

  constructor(owner: BodyOwner, ctx: Pick<ParameterizedContext, 'req' | 'res'>, services: BodyServices) {
    this.#owner = owner
    this.#ctx = ctx
    this.#services = services
  }

  /**
   * Reads and checks the body, on the first call. Throws the errors of `readBody`, 503 if there is no room for it, and 400 if it is not an
   * acceptable object.
   */
  read(): Promise<Call> {
    this.#reading ??= this.#read()
    return this.#reading
  }

  /** From now on the body cannot be edited. */
  decide(): void {
    if (this.#context !== undefined) this.#context.decided = true
  }

  /** Milliseconds between two monotonic times in which the body was being read: that time depends on the client. */
  readingMs(from: number, to: number): number {
    return Math.max(0, Math.min(to, this.#endedAt) - Math.max(from, this.#beganAt))
  }

  /** Frees the body, once it is no longer being read. */
  release(): void {
    const free = (): void => {
      if (this.call !== undefined) {
        translationOf(this.call)?.release()
        ClientCall.bodyOf(this.call).client.release()
      }
      this.#form?.close()
      this.#context?.memory.release()
      this.#disk?.release()
    }
    this.#reading?.then(free, free)
  }

  async #read(): Promise<Call> {
    const { endpoint, generation, principal } = this.#owner
    if (endpoint === undefined || endpoint.check === 'no body') throw new ContractViolation('NO_BODY')
    const { table } = generation!
    const { form, protocol } = endpoint
    const { admission, scanner } = this.#services
    const memory = admission.memoryFor(principal?.keyId ?? '')
    const clientHeaders = protocol && headersOf(this.#ctx.req.headers, protocol)
    const context = new BodyContext(this.#owner, { endpoint: endpoint.name, check: endpoint.check, clientHeaders, memory, table })
    this.#context = context
    this.#beganAt = performance.now()
    try {
      const most = table.maxBody[principal?.kind ?? 'live']
      if (form === 'always' || (form === 'maybe' && hasForm(this.#ctx.req))) {
        this.call = new ClientCall(context, await this.#readForm(context, Math.min(admission.largestUpload, most)))
        return this.call
      }
      const bytes = await readBody(this.#ctx.req, this.#ctx.res, { max: Math.min(admission.largestBody, most), memory })
      const sent = await readJson(bytes, context, scanner)
      const kept = (endpoint.keepsReplies ?? endpoint.continues) && principal && this.#keptOf(principal)
      const client = kept ? await this.#continued(sent, kept, most) : sent
      this.call = new ClientCall(context, protocol === undefined ? client : translated(client, protocol))
      return this.call
    } finally {
      this.#endedAt = performance.now()
    }
  }

  /** What the gateway keeps for a caller; undefined if it keeps nothing. */
  #keptOf(holder: Holder): Continuing | undefined {
    const { endpoint, generation } = this.#owner
    const keeping = generation!.keeping
    const responses = KeptResponses.of(holder, keeping, this.#services)
    const conversations = KeptConversations.of(holder, keeping, this.#services)
    return responses && conversations && { responses, conversations, keepsReplies: endpoint?.keepsReplies === true }
  }

  /** The body with all of the conversation that it goes on with. */
  async #continued(sent: JsonBody, from: Continuing, max: number): Promise<JsonBody> {
    const context = this.#context!
    const { changes, kept } = await continued(sent, from)
    context.kept = kept
    if (Object.keys(changes).length === 0) return sent
    const bytes = sent.splice(changes)
    if (bytes.length > max) throw new GatewayError('request_too_large', { values: { limit: max } })
    context.memory.take(bytes.length)
    return readJson(bytes, context, this.#services.scanner)
  }

  async #readForm(context: BodyContext, max: number): Promise<FormBody> {
    const { admission, uploads: folder } = this.#services
    this.#disk = admission.diskFor(this.#owner.principal?.keyId ?? '')
    const limits = { max, memory: context.memory, disk: this.#disk, folder }
    this.#form = await readForm(this.#ctx.req, this.#ctx.res, limits)
    return new FormBody(this.#form.parts, context)
  }
}

/** A large body is scanned in a thread. */
const readJson = (bytes: Buffer, context: BodyContext, scanner: CallWorkers): JsonBody | Promise<JsonBody> =>
  bytes.length > LARGE.bytes ? readLarge(bytes, context, scanner) : JsonBody.read(bytes, context)

type OwnContext = Pick<CallContext, 'endpoint' | 'check' | 'clientHeaders'> & {
  readonly memory: CallMemory
  readonly table: RoutingTable
}

/** What a call has in addition to its body. It holds nothing of the connection: a plugin may keep the call. */
class BodyContext implements CallContext {
  readonly id: string
  readonly endpoint: EndpointName
  readonly check: RequestCheck
  readonly upstreamHeaders: Readonly<Record<string, string>>
  readonly clientHeaders: CallContext['clientHeaders']
  readonly memory: CallMemory
  kept: KeptReply | undefined = undefined
  decided = false
  readonly #table: RoutingTable
  readonly #principal: Principal | undefined

  constructor({ id, principal, upstreamHeaders }: BodyOwner, { endpoint, check, clientHeaders, memory, table }: OwnContext) {
    this.id = id
    this.endpoint = endpoint
    this.check = check
    this.upstreamHeaders = upstreamHeaders
    this.clientHeaders = clientHeaders
    this.memory = memory
    this.#table = table
    this.#principal = principal
  }

  open(text: string): string | undefined {
    const sealer = sealerOf(text)
    const secret = sealer && this.#principal && this.#table.secretOf(sealer, this.#principal.kind)
    return secret === undefined ? undefined : summaryIn(text, { ...sealer!, account: this.#principal!.account, secret })
  }

  resolve(name: string): ModelId {
    return this.#table.find(name, this.#principal)
  }
}

/** The headers of a request that belong to its protocol. */
const headersOf = (headers: IncomingHttpHeaders, { headers: names }: ClientProtocol): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])))
