import { Ticker, type TickListener } from '../async/ticker.ts'

/** Milliseconds that each phase of an attempt may take. */
export interface PhaseLimits {
  /** Until the request is on a connected socket. */
  readonly connect: number
  /** From there to the first byte of the reply's body. */
  readonly firstByte: number
  /** Between two pieces of the body. */
  readonly idle: number
}

/** A phase of an attempt. */
export type Phase = keyof PhaseLimits

/** Hears that a phase has taken too long. */
export interface PhaseOwner {
  onExpired(phase: Phase): void
}

/** Milliseconds by which a deadline may be noticed late. */
const TICK_MS = 20

const watch = new Ticker<Deadlines>(TICK_MS)

/** Follows an attempt through its phases. */
export class Deadlines implements TickListener {
  previous: this | undefined
  next: this | undefined
  readonly #limits: PhaseLimits
  readonly #owner: PhaseOwner
  #phase: Phase | undefined
  #isWatched = false
  #expiresAt = Number.POSITIVE_INFINITY

  constructor(limits: PhaseLimits, owner: PhaseOwner) {
    this.#limits = limits
    this.#owner = owner
  }

  /** Enters a phase, or begins it anew. */
  enter(phase: Phase): void {
    this.#phase = phase
    this.#expiresAt = performance.now() + this.#limits[phase]
    if (this.#isWatched) return
    this.#isWatched = true
    watch.add(this)
  }

  /** Waits for nobody: the client is slow. */
  stop(): void {
    this.#expiresAt = Number.POSITIVE_INFINITY
  }

  /** The attempt is over. */
  close(): void {
    if (this.#isWatched) watch.remove(this)
    this.#isWatched = false
  }

  onTick(now: number): void {
    if (now < this.#expiresAt) return
    this.stop()
    this.#owner.onExpired(this.#phase!)
  }
}
