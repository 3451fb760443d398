import { randomUUID } from 'node:crypto'

/** A run of a gateway, with all its processes. */
export interface Instance {
  /** No other run ever has it. */
  readonly id: string
  /** When it began: its counters were 0. Milliseconds since 1970. */
  readonly startedAt: number
}

/** A gateway that starts now. */
export const newInstance = (): Instance => ({ id: randomUUID(), startedAt: Date.now() })
