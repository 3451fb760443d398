const DAY = 24 * 60 * 60 * 1000

/** How long keys may live, in days. */
const LIFETIMES = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
] as const

/** The choices of a form. */
export const EXPIRY_CHOICES: readonly { readonly value: string; readonly label: string }[] = [
  ...LIFETIMES.map(([value, label]) => ({ value, label: `In ${label}` })),
  { value: 'never', label: 'Never' },
]

/** What is chosen where nobody chose. */
export const DEFAULT_EXPIRY = '90'

/** The instant that a choice means, RFC 3339; null: never. */
export function expiryOf(choice: string): string | null {
  return choice === 'never' ? null : new Date(Date.now() + Number(choice) * DAY).toISOString()
}
