const DAY = 24 * 60 * 60 * 1000

/** The lifetimes to choose from, in days. */
const LIFETIMES = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
] as const

/** The options of a field. */
export const EXPIRY_CHOICES: readonly { readonly value: string; readonly label: string }[] = [
  ...LIFETIMES.map(([value, label]) => ({ value, label: `In ${label}` })),
  { value: 'never', label: 'Never' },
]

/** The default option. */
export const DEFAULT_EXPIRY = '90'

/** The expiry of an option, RFC 3339; null: never. */
export function expiryOf(choice: string): string | null {
  return choice === 'never' ? null : new Date(Date.now() + Number(choice) * DAY).toISOString()
}
