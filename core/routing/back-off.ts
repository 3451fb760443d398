/** Milliseconds: the first pause is at most so long, each further one at most twice as long as the one before, none longer than… */
const FIRST = 250
const MOST = 4000

/**
 * How long to wait before the same upstream is asked again, in milliseconds: at least as long as it asked for, and at random
 * (full jitter), so that those who failed together do not come back together. `retries`: so many pauses came before.
 */
export function backOff(retries: number, askedFor: number, random: () => number): number {
  return askedFor + random() * Math.min(MOST, FIRST * 2 ** retries)
}
