import { InvalidArgumentError } from 'commander'

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `90s`, `30m`, `24h`, `7d`, or `0`. */
export function overlapOf(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (text === '0') return 0
  if (amount === undefined) throw new InvalidArgumentError('Give a duration: 30m, 24h, 7d, or 0.')
  return Number(amount) * UNITS[unit]!
}
