import type { Call, EndpointName } from '../sdk/api.ts'

/** A member by which a call asks for a faster, cheaper or more local service at another price. */
interface Variant {
  /** The values by which a call asks for the usual service. */
  readonly usual: readonly string[]
  /** The endpoints that have it. Absent: all. */
  readonly at?: readonly EndpointName[]
}

const MESSAGES: readonly EndpointName[] = ['messages']

/**
 * The members of all endpoints whose values have a price of their own: `prices` of routes.yaml has a factor for each. Sources:
 * console.groq.com/docs/service-tiers and /flex-processing, platform.claude.com/docs/en/build-with-claude/fast-mode and
 * /docs/manage-claude/data-residency (read 2026-11-26); OpenAI's by its SDK only: `auto` is what the project's settings say, and no call tells.
 */
export const VARIANTS = {
  service_tier: { usual: ['auto', 'default', 'standard', 'standard_only', 'on_demand'] },
  speed: { usual: ['standard'], at: MESSAGES },
  inference_geo: { usual: ['global'], at: MESSAGES },
} as const satisfies Readonly<Record<string, Variant>>

/** The name of a row of `VARIANTS`. */
export type VariantName = keyof typeof VARIANTS

/** A service that a call asks for beside the usual one. */
export interface AskedVariant {
  readonly name: VariantName
  readonly value: string
}

const ROWS = Object.entries(VARIANTS) as [VariantName, Variant][]

/** The services that a call, in its client's own protocol, asks for beside the usual one. */
export function variantsIn(call: Pick<Call, 'endpoint' | 'member'>): readonly AskedVariant[] {
  let asked = NONE
  for (const [name, { usual, at }] of ROWS) {
    if (at?.includes(call.endpoint) === false) continue
    const value = call.member(name)
    if (value == null || usual.includes(value as string)) continue
    asked = [...asked, { name, value: typeof value === 'string' ? value : JSON.stringify(value) }]
  }
  return asked
}

const NONE: readonly AskedVariant[] = []
