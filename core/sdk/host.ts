import type { Call, Principal } from './call.ts'
import type { CallFunction } from './call-function.ts'
import type { Limits } from './limits.ts'
import type { UpstreamHeaders } from './secrets.ts'

/** The services that core offers a plugin. */
export interface Host {
  /** Every line names the plugin and its place in routes.yaml. */
  readonly log: HostLog
  readonly metrics: HostMetrics
  readonly keys: {
    /** The principal of an API key; undefined if the key is unknown, revoked or expired. Throws `api_key_disabled`, `storage_unavailable`. */
    verify(secret: string): Promise<Principal | undefined>
  }
  readonly limits: Limits
  /** The number of tokens in the call's prompt, counted with gpt-tokenizer's o200k in a worker thread. */
  countTokens(call: Call): Promise<number>
  /**
   * Computes something of a call's body, such as the body for an upstream: in place, or in a worker thread if the call is `large`, because
   * parsing would block the event loop. From a thread, byte arrays that are the result or its members come as `Uint8Array`.
   */
  compute<Input, Result>(call: Call, fn: CallFunction<Input, Result>, input: Input): Promise<Result>
  /** Runs a pure function of a module in a worker thread; `input` and the result are cloned. */
  offload(module: URL, exportName: string, input: unknown): Promise<unknown>
  /**
   * GETs a JSON document of at most 4 MiB, such as a list of models. It follows no redirects, and reveals a `Secret` only as it writes
   * the header. Throws an Error without secrets; the cause of a refusal is an `UpstreamError` with the upstream's message, without
   * addresses and keys.
   */
  getJson(url: string, options: { readonly headers: UpstreamHeaders; readonly signal: AbortSignal }): Promise<unknown>
  /** The folder of routes.yaml: relative paths in a plugin's config are meant from there, and not from the working folder. */
  readonly directory: string
  /** Aborted when the plugin is closed. */
  readonly signal: AbortSignal
}

/** The gateway's log: fields, then the event as a constant text. Neither may contain secrets, prompts or answers. */
export interface HostLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

/** Gets or creates metrics: a second call with the same name returns the same metric, so it survives a reload. */
export interface HostMetrics {
  counter(name: string, help: string, labels?: readonly string[]): HostCounter
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): HostHistogram
}

/** A number that only increases. */
export interface HostCounter {
  /** One value per label, in the order of their declaration. Values above the limit of series count as `other`. */
  add(amount: number, ...labels: string[]): void
}

/** A distribution of values over buckets. */
export interface HostHistogram {
  observe(value: number, ...labels: string[]): void
}
