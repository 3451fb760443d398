import type { GenerationConfig } from './wire.ts'

/** What of some parameters a model takes, and the names of those it does not. */
export interface Taken {
  readonly taken: GenerationConfig
  readonly dropped: readonly string[]
}
