import type { Call } from './call.ts'

/** A function of a call's body that `host.compute` runs: pure, and exported by its module, so that a worker thread can import it. */
export interface CallFunction<Input, Result> {
  /** The URL of its module. */
  readonly module: string
  /** The name under which the module exports this object. */
  readonly name: string
  /** `input` and the result must be cloneable. Throws `GatewayError`s for the client. */
  run(call: Call, input: Input): Result
}

/**
 * Defines a function for `host.compute`.
 *
 * @example
 * export const chatBody = defineCallFunction(import.meta.url, 'chatBody', (call, model: string) =>
 *   Buffer.from(JSON.stringify(toChatBody(call.body, model))),
 * )
 */
export function defineCallFunction<Input, Result>(
  module: string,
  name: string,
  run: (call: Call, input: Input) => Result,
): CallFunction<Input, Result> {
  return Object.freeze({ module, name, run })
}
