import type { Call, Principal } from './call.ts'
import type { UpstreamHeaders } from './secrets.ts'

// ── Host ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** All that a plugin may use of core. */
export interface Host {
  /** Bound to the plugin's name and place in routes.yaml. */
  readonly log: HostLog
  readonly metrics: HostMetrics
  readonly keys: {
    /** Who a secret belongs to; undefined for a key that is unknown, revoked or expired. Throws `storage_unavailable`. */
    verify(secret: string): Promise<Principal | undefined>
  }
  readonly limits: Limits
  /** Tokens of the call's prompt, by gpt-tokenizer's o200k, in a worker thread. */
  countTokens(call: Call): Promise<number>
  /** Runs a pure function of a module in a worker thread; `input` and the result are cloned. */
  offload(module: URL, exportName: string, input: unknown): Promise<unknown>
  /**
   * GETs a JSON document of at most 4 MiB, such as a list of models: no redirects are followed, and a `Secret` is opened as it is
   * written. Throws an Error that names no secret; the cause of a refusal is an `UpstreamError` with the upstream's words, without
   * addresses and keys.
   */
  getJson(url: string, options: { readonly headers: UpstreamHeaders; readonly signal: AbortSignal }): Promise<unknown>
  /** Aborted when the plugin is closed. */
  readonly signal: AbortSignal
}

/** The gateway's log: fields, then what happened, as a constant text. Neither may hold secrets or what was asked and answered. */
export interface HostLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

/** Get-or-create: asking again for the same name gives the same metric, so it survives a reload. */
export interface HostMetrics {
  counter(name: string, help: string, labels?: readonly string[]): HostCounter
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): HostHistogram
}

/** A number that only grows. */
export interface HostCounter {
  /** One value per label, in the order they were declared. Values past the cap of series are counted as `other`. */
  add(amount: number, ...labels: string[]): void
}

/** How values are spread over buckets. */
export interface HostHistogram {
  observe(value: number, ...labels: string[]): void
}

/** An amount in a window of time. */
export interface Rate {
  readonly amount: number
  readonly windowMs: number
}

/** What a rate class allows. */
export interface RateLimits {
  readonly requests?: Rate
  readonly tokens?: Rate
  /** Calls under way at once. */
  readonly concurrent?: number
}

/** Budgets of requests, tokens and places, kept by core. */
export interface Limits {
  /** Takes one request, so many tokens and one concurrent place from a subject's budgets, or nothing at all. */
  reserve(subject: string, limits: RateLimits, tokens: number): Reservation | Promise<Reservation>
}

/** What a call was given of its budgets, or why it was given nothing. */
export interface Reservation {
  /** Which budget was empty; absent: granted. */
  readonly refusedBy?: 'requests' | 'tokens' | 'concurrent'
  /** Milliseconds until the refused budget has room again; 0 for `concurrent`. */
  readonly retryAfterMs: number
  readonly requests?: Budget
  readonly tokens?: Budget
  /** Once, after the call: what it really used. Gives the concurrent place back. */
  settle(tokens: number): void | Promise<void>
}

/** A budget as it stands: what `x-ratelimit-*` says. */
export interface Budget {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until it is full again. */
  readonly resetMs: number
}
