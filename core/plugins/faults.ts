import { GatewayError } from '../errors.ts'

/**
 * When a plugin ran: a link's middleware, its `onSettled` functions, a provider making the upstream's request, either of them reading
 * or changing the reply, or what a link started and does not await.
 */
export type PluginPhase = 'handle' | 'settled' | 'request' | 'reply' | 'background'

/** Records how long plugins run. */
export interface PluginTimer {
  /** `ms`: the plugin's own time, in milliseconds. */
  ran(plugin: string, phase: PluginPhase, ms: number): void
}

/** What a plugin threw, and which one it was: the client reads `plugin_error`, the log this. */
export class PluginFailure extends Error {
  override readonly name = 'PluginFailure'
  readonly plugin: string
  readonly phase: PluginPhase

  constructor(plugin: string, phase: PluginPhase, thrown: unknown) {
    super(`${plugin} failed`, { cause: thrown })
    this.plugin = plugin
    this.phase = phase
  }
}

/** The error of a call in which a plugin threw. A GatewayError is meant for the client and stays as it is. */
export function pluginError(plugin: string, phase: PluginPhase, thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return new GatewayError('plugin_error', { cause: new PluginFailure(plugin, phase, thrown) })
}

/** Calls a provider while a reply is read. What it throws is its own fault, not the upstream's. */
export function callProvider<Result>(provider: string, work: () => Result): Result {
  try {
    return work()
  } catch (thrown) {
    throw pluginError(provider, 'reply', thrown)
  }
}

/** What a link may not do with its call, by the word that the log's `cause` has for it; docs/plugins.md explains them. */
export const CONTRACT_VIOLATIONS = {
  NEXT_TWICE: 'next() was called twice',
  NEXT_AFTER_REPLY: 'next() was called after reply.send()',
  NO_NEXT_NO_REPLY: 'the link returned without next() and without reply.send()',
  BODY_SET: 'ctx.body was set; a link answers by reply.send()',
  SEND_AFTER_NEXT: 'reply.send() was called after next()',
  TRANSFORM_AFTER_NEXT: 'reply.transform() was called after next()',
  EDIT_AFTER_NEXT: 'call.edit() was called after next()',
  BAD_PRINCIPAL: 'state.principal was set to a value whose keyId or account is no text',
  NO_BODY: 'call() and reply.send() are only for endpoints that call a model: check state.callsModel',
  REPLY_OF_OTHER_KIND: 'reply.send() takes chunks for a stream, and a completion for any other call',
  NOT_A_CHUNK: 'reply.transform: chunk() returned neither chunks nor undefined',
  NOT_A_COMPLETION: 'reply.transform: completion() returned no completion',
  TOOK_TOO_LONG: 'the plugin took too long',
} as const

/** Thrown where a plugin breaks a rule of the plugin API. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation'
  readonly code: keyof typeof CONTRACT_VIOLATIONS

  constructor(code: keyof typeof CONTRACT_VIOLATIONS) {
    super(CONTRACT_VIOLATIONS[code])
    this.code = code
  }
}

/** The violation of giving a wrong value. Of a promise it handles the rejection, which would end the process. */
export function violationBy(value: unknown, code: keyof typeof CONTRACT_VIOLATIONS): ContractViolation {
  if (value instanceof Promise) value.catch(() => undefined)
  return new ContractViolation(code)
}
