import type { Rate } from 'unified-model-gateway/plugin'

/** Each unit a rate may name: its milliseconds, and the word that OpenAI's messages use. A month is one of the calendar. */
const UNITS = {
  s: { ms: 1000, word: 'sec' },
  min: { ms: 60_000, word: 'min' },
  h: { ms: 3_600_000, word: 'hour' },
  d: { ms: 86_400_000, word: 'day' },
  month: { ms: undefined, word: 'month' },
} as const

/** Other spellings that people write. */
const ALIASES: Readonly<Record<string, keyof typeof UNITS>> = { sec: 's', minute: 'min', hour: 'h', day: 'd' }

const MULTIPLES: Readonly<Record<string, number>> = { k: 1000, M: 1_000_000 }

/** `60/min`, `100k/min`, `5M/day`. */
export const RATE = `^([1-9]\\d{0,8})([kM]?)/(${[...Object.keys(UNITS), ...Object.keys(ALIASES)].join('|')})$`

/** Reads a rate. Throws an Error that says what a rate looks like. */
export function parseRate(text: string, timeZone: string): Rate {
  const [, digits, multiple, unit] = new RegExp(RATE).exec(text) ?? []
  if (digits === undefined || multiple === undefined || unit === undefined) {
    throw new Error(`"${text}" is not a rate; write an amount per s, min, h, d or month, such as 60/min or 100k/min`)
  }
  const { ms } = UNITS[ALIASES[unit] ?? (unit as keyof typeof UNITS)]
  return {
    amount: Number(digits) * (MULTIPLES[multiple] ?? 1),
    window: ms === undefined ? { kind: 'calendar', unit: 'month', timeZone } : { kind: 'fixed', ms },
  }
}

/** `min` for a rate per minute. */
export function unitOf({ window }: Rate): string {
  return window.kind === 'calendar' ? window.unit : Object.values(UNITS).find(({ ms }) => ms === window.ms)!.word
}
