import { randomUUID } from 'node:crypto'
import { GatewayError, UpstreamFailure } from '../../errors.ts'
import type { ChatChunk, ChatCompletion, ChunkChoice, FinishReason, ToolCallDelta, Usage } from '../../sdk/api.ts'
import { isRecord, readDataUrl, textOf } from '../../sdk/json.ts'
import { KeptText } from '../../sdk/translated.ts'
import type { RepliedCall, ReplyWriter } from '../client-protocol.ts'
import { CallIds, type ReplyParts, ReplySequence } from '../reply-sequence.ts'
import { ReplyState } from '../state.ts'
import { estimatedUsage } from '../usage.ts'
import { readAnnotations, readLogprobs } from './annotations.ts'
import { type ClientTool, clientTools, conversationTools } from './client-tools.ts'
import { asksForCompaction, sealedSummary, userMessages } from './compactions.ts'
import {
  type Emit,
  type ItemPlace,
  newItemId,
  OpenCall,
  OpenCompaction,
  type OpenItem,
  OpenMessage,
  OpenPicture,
  OpenReasoning,
} from './open-items.ts'
import { itemIdIn } from './own-ids.ts'
import { toResponseUsage } from './usage.ts'
import {
  type CompactedResponse,
  type Echo,
  frameOf,
  type ItemStatus,
  type OutputItem,
  type OwnResponse,
  type Response,
} from './wire.ts'

/** A completion as a response. */
export const toResponse = (completion: ChatCompletion, call: RepliedCall): Response =>
  built(completion, new ResponseBuilder(call, () => undefined))

/** The summary of a conversation, a completion, as the reply that compacts it. */
export function toCompacted(completion: ChatCompletion, call: RepliedCall): CompactedResponse {
  const { id, created_at, output, usage } = built(completion, new ResponseBuilder(call, () => undefined, true))
  return {
    id,
    object: 'response.compaction',
    created_at,
    output: [...userMessages(call.member('input')), ...output],
    usage: usage!,
  }
}

function built(completion: ChatCompletion, builder: ResponseBuilder): Response {
  builder.begin(completion)
  const [choice] = completion.choices
  if (choice !== undefined) {
    const { message, finish_reason, ...rest } = choice
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
    const delta = { ...message, tool_calls: calls.map((one, index) => ({ ...one, index })) }
    builder.read({ ...completion, choices: [{ ...rest, delta, finish_reason }] } as unknown as ChatChunk)
  }
  return builder.end()
}

/** Why a response is incomplete, by the finish of its completion. */
const INCOMPLETE: Partial<Readonly<Record<FinishReason, 'max_output_tokens' | 'content_filter'>>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

/** Makes a response of chunks, and tells each step as an event. Its items come one after the other. */
export class ResponseBuilder {
  readonly #call: RepliedCall
  readonly #emit: Emit
  readonly #sequence: ReplySequence
  readonly #compacts: boolean
  readonly #state: ReplyState
  readonly #ids: CallIds
  readonly #kept = new KeptText()
  readonly #output: OutputItem[] = []
  /** What stays the same from the first event to the last. */
  #own: (Pick<OwnResponse, 'id' | 'created_at'> & Echo) | undefined
  #tools: ReadonlyMap<string, ClientTool> | undefined
  /** The tools that the conversation has added: read only for a call of none of the request's. */
  #added: ReadonlyMap<string, ClientTool> | undefined
  #open: OpenItem | undefined
  /** The choice that is being read, until its annotations and log probabilities are taken. */
  #choice: ChunkChoice | undefined
  #finish: FinishReason | null = null
  /** What the upstream says beside the text of its message. */
  #extra: unknown
  #usage: Usage | undefined
  #length = 0

  /** `compacts`: whether it is a compaction, of the text that the model writes. */
  constructor(call: RepliedCall, emit: Emit, compacts = asksForCompaction(call)) {
    this.#call = call
    this.#emit = emit
    this.#compacts = compacts
    this.#state = new ReplyState(call.owner)
    this.#ids = new CallIds(call)
    this.#sequence = new ReplySequence(compacts ? this.#toCompaction() : this.#toItems())
  }

  #toItems(): ReplyParts {
    return {
      think: (text, field) => this.#reasoning().think(this.#keep(text), field),
      text: (text) => this.#text(this.#keep(text)),
      refuse: (text) => this.#message().refuse(this.#keep(text)),
      picture: (url) => this.#picture(this.#kept.add(url)),
      tool: (number, part) => this.#toolCall(number, part).add(this.#keep(textOf(part.function?.arguments))),
    }
  }

  /** Clients expect a compaction and nothing else. */
  #toCompaction(): ReplyParts {
    const ignored = (): void => undefined
    return {
      text: (text) => this.#compaction().add(this.#keep(text)),
      think: (text) => this.#keep(text),
      refuse: ignored,
      picture: ignored,
      tool: ignored,
    }
  }

  /** Called before `read`; later calls do nothing. */
  begin({ id, created }: Partial<Pick<ChatChunk, 'id' | 'created'>>): void {
    if (this.#own !== undefined) return
    this.#own = { id: this.#call.kept?.id ?? toResponseId(id), created_at: created ?? unixSeconds(), ...echoOf(this.#call) }
    const response = this.#response('in_progress')
    this.#emit({ type: 'response.created', response })
    this.#emit({ type: 'response.in_progress', response })
  }

  read(chunk: ChatChunk): void {
    this.#usage = chunk.usage ?? this.#usage
    const choice = chunk.choices.find(({ index }) => (index ?? 0) === 0)
    if (choice === undefined) return
    this.#choice = choice
    if (!this.#compacts) this.#state.read(choice.delta ?? {})
    this.#sequence.read(choice.delta ?? {})
    if (this.#open instanceof OpenMessage) this.#annotate(this.#open)
    this.#extra = choice.delta?.extra_content ?? this.#extra
    this.#finish = choice.finish_reason ?? this.#finish
  }

  end(): Response {
    this.begin({})
    this.#sequence.end()
    const reason = INCOMPLETE[this.#finish ?? 'stop']
    if (this.#open instanceof OpenReasoning) this.#close('completed')
    for (const state of this.#state.rest()) this.#begin(new OpenReasoning(this.#state, this.#place())).keep(state)
    this.#close(reason === undefined ? 'completed' : 'incomplete')
    if (this.#compacts && this.#output.length === 0)
      throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('NO_SUMMARY') })
    const usage = this.#usage ?? estimatedUsage(this.#call.promptEstimate, this.#length)
    const response: Response = {
      ...this.#response(reason === undefined ? 'completed' : 'incomplete'),
      completed_at: reason === undefined ? unixSeconds() : null,
      incomplete_details: reason === undefined ? null : { reason },
      usage: toResponseUsage(usage),
      ...(this.#extra !== undefined && { extra_content: this.#extra }),
    }
    this.#emit({ type: reason === undefined ? 'response.completed' : 'response.incomplete', response })
    this.#call.kept?.complete(JSON.stringify(response))
    return response
  }

  #reasoning(): OpenReasoning {
    if (this.#open instanceof OpenReasoning) return this.#open
    return this.#begin(new OpenReasoning(this.#state, this.#place()))
  }

  #message(): OpenMessage {
    if (this.#open instanceof OpenMessage) return this.#open
    return this.#begin(new OpenMessage(this.#place()))
  }

  #compaction(): OpenCompaction {
    if (this.#open instanceof OpenCompaction) return this.#open
    return this.#begin(new OpenCompaction((summary) => sealedSummary(summary, this.#call.keeper), this.#place()))
  }

  /** A picture by its data is an item of its own; of another, the answer has its address. */
  #picture(url: string): void {
    const inline = readDataUrl(url)
    if (inline === undefined) this.#text(`![picture](${url})`)
    else this.#begin(new OpenPicture(inline, this.#place()))
  }

  /** The state of a call is that of the reasoning before it, or of an item of its own. */
  #toolCall(call: number, part: ToolCallDelta): OpenCall {
    if (this.#open instanceof OpenCall && this.#open.call === call) return this.#open
    const state = this.#state.before(call)
    if (state !== undefined) this.#reasoning().keep(state)
    const id = this.#ids.take(textOf(part.id))
    return this.#begin(new OpenCall({ call, id, tool: this.#toolOf(part) }, this.#place()))
  }

  #toolOf({ function: called }: ToolCallDelta): ClientTool {
    const name = textOf(called?.name)
    this.#tools ??= clientTools(this.#call.member('tools'))
    const offered = this.#tools.get(name)
    if (offered !== undefined) return offered
    this.#added ??= conversationTools(this.#call.member('input'))
    return this.#added.get(name) ?? { type: 'function', name }
  }

  /** Ends the open item. Returns the place of the next one. */
  #place(): ItemPlace {
    this.#close('completed')
    return { index: this.#output.length, emit: this.#emit, newId: this.#newId }
  }

  readonly #newId: ItemPlace['newId'] = (prefix) => {
    const { kept } = this.#call
    return kept === undefined ? newItemId(prefix) : itemIdIn(kept.id, newItemId(prefix))
  }

  #begin<Item extends OpenItem>(item: Item): Item {
    this.#open = item
    return item
  }

  #close(status: ItemStatus): void {
    if (this.#open !== undefined) this.#output.push(this.#open.close(status))
    this.#open = undefined
  }

  #text(text: string): void {
    const message = this.#message()
    message.text(text, readLogprobs(this.#choice?.logprobs))
    this.#annotate(message)
  }

  #annotate(message: OpenMessage): void {
    for (const annotation of readAnnotations(this.#choice?.delta?.annotations)) message.annotate(annotation)
    this.#choice = undefined
  }

  /** The events at the end repeat all that was said. */
  #keep(text: string): string {
    this.#length += text.length
    return this.#kept.add(text)
  }

  #response(status: OwnResponse['status']): Response {
    return { ...this.#own!, ...stateOf(this.#call, status), output: [...this.#output] }
  }
}

/** What a response needs to know of its call before it is answered. */
type UnansweredCall = Pick<RepliedCall, 'model' | 'large' | 'member' | 'kept'>

/** The response to a call that waits for its turn. */
export const queuedResponse = (call: UnansweredCall, id: string): Response => ({
  id,
  created_at: unixSeconds(),
  ...echoOf(call),
  ...stateOf(call, 'queued'),
  output: [],
})

const stateOf = ({ model, kept }: UnansweredCall, status: OwnResponse['status']) => ({
  object: 'response' as const,
  status,
  completed_at: null,
  access_programs: null,
  background: kept?.isBackground ?? false,
  conversation: kept?.conversation === undefined ? null : { id: kept.conversation },
  error: null,
  incomplete_details: null,
  model,
  previous_response_id: kept?.previous ?? null,
  store: kept?.isStored === true,
})

/** What a reply repeats of its request. Instructions and tools of a large request are left out: its reply would be large too. */
function echoOf(call: UnansweredCall): Echo {
  const of = (name: string, otherwise: unknown = null): unknown => call.member(name) ?? otherwise
  return {
    instructions: call.large ? null : of('instructions'),
    max_output_tokens: of('max_output_tokens'),
    max_tool_calls: of('max_tool_calls'),
    metadata: of('metadata', {}),
    parallel_tool_calls: of('parallel_tool_calls', true),
    prompt_cache_key: of('prompt_cache_key'),
    reasoning: { effort: null, summary: null, ...membersOf(of('reasoning')) },
    safety_identifier: of('safety_identifier'),
    temperature: of('temperature'),
    text: { format: { type: 'text' }, ...membersOf(of('text')) },
    tool_choice: of('tool_choice', 'auto'),
    tools: call.large ? [] : of('tools', []),
    top_logprobs: of('top_logprobs', 0),
    top_p: of('top_p'),
    truncation: 'disabled',
    user: of('user'),
  }
}

const membersOf = (value: unknown): object => (isRecord(value) ? value : {})

const toResponseId = (id: unknown): string => {
  const own = textOf(id) || randomUUID().replaceAll('-', '')
  return own.startsWith('resp_') ? own : `resp_${own.replace(/^chatcmpl-/, '')}`
}

const unixSeconds = (): number => Math.floor(Date.now() / 1000)

/**
 * Writes chunks as the events of a response: response.created and response.in_progress, then per item its start, pieces and end, then
 * response.completed or response.incomplete ("Streaming events", developers.openai.com).
 */
export class ResponseStreamWriter implements ReplyWriter {
  readonly #builder: ResponseBuilder
  #out = ''
  #number = 0

  constructor(call: RepliedCall) {
    this.#builder = new ResponseBuilder(call, ({ type, ...body }) => {
      this.#out += frameOf({ type, sequence_number: this.#number++, ...body } as Parameters<typeof frameOf>[0])
    })
  }

  write(chunk: ChatChunk): string {
    this.#builder.begin(chunk)
    this.#builder.read(chunk)
    return this.#take()
  }

  end(): string {
    this.#builder.end()
    return this.#take()
  }

  #take(): string {
    const out = this.#out
    this.#out = ''
    return out
  }
}
