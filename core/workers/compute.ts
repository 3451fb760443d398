/** Runs in a worker thread: computes something of a large body. */
import { GatewayError } from '../errors.ts'
import { type CallContext, ClientCall, UNCOUNTED } from '../protocol/call.ts'
import { modelEndpoints } from '../protocol/endpoints/model-endpoints.ts'
import { JsonBody } from '../protocol/json-body.ts'
import type { Call, CallFunction } from '../sdk/api.ts'
import { moved } from './moved.ts'

/** A call, and a function of it, as a thread gets them. */
export interface Computation
  extends Pick<Call, 'id' | 'endpoint' | 'model'>,
    Pick<CallFunction<unknown, unknown>, 'module' | 'name'> {
  /** The body, in a buffer of its own. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly input: unknown
}

/** A result, or what makes the GatewayError again that was thrown: between threads it would lose its class. */
export type Computed<Result> =
  | { readonly result: Result }
  | { readonly refused: Pick<GatewayError, 'row' | 'message' | 'param' | 'status' | 'code' | 'headers'> }

const CHECKS = new Map(modelEndpoints.map(({ name, check }) => [name, check]))

/** Calls the function. Resolves to a `Computed`, whose byte arrays Piscina moves instead of copying them. */
export async function compute({ bytes, id, endpoint, model, module, name, input }: Computation): Promise<unknown> {
  const { [name]: fn } = (await import(module)) as Readonly<Record<string, CallFunction<unknown, unknown>>>
  if (typeof fn?.run !== 'function') throw new Error(`${module} does not export ${name}, made by defineCallFunction`)
  try {
    const context: CallContext = {
      id,
      endpoint,
      check: CHECKS.get(endpoint)!,
      resolve: () => model,
      upstreamHeaders: {},
      memory: UNCOUNTED,
      decided: true,
    }
    const call = new ClientCall(context, JsonBody.read(Buffer.from(bytes.buffer), context))
    const result = fn.run(call, input)
    return moved({ result } satisfies Computed<unknown>, buffersOf(result))
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { row, message, param, status, code, headers } = error
    return { refused: { row, message, param, status, code, headers } }
  } finally {
    // An idle thread collects no garbage: this frees the bytes now.
    bytes.buffer.transfer(0)
  }
}

/** The buffers of a byte array, or of those among an object's members, unless they hold other data too. */
function buffersOf(result: unknown): readonly ArrayBuffer[] {
  const values = ArrayBuffer.isView(result) ? [result] : Object.values(Object(result))
  return values
    .filter(ArrayBuffer.isView)
    .flatMap(({ buffer, byteLength }) => (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []))
}
