import type { Call, EndpointName } from '../sdk/api.ts'

/** A member by which a call asks for a faster, cheaper or more local service at another price. */
interface Variant {
  /** The values by which a call asks for the usual service. */
  readonly usual: readonly string[]
  /** The value by which a call leaves the choice to the settings of the account at the vendor, as it does without the member. Absent: none does. */
  readonly left?: string
  /** The endpoints that have it. Absent: all. */
  readonly at?: readonly EndpointName[]
}

const MESSAGES: readonly EndpointName[] = ['messages']

/**
 * The members of all endpoints whose values have a price of their own: `prices` of routes.yaml has a factor for each. Sources:
 * console.groq.com/docs/service-tiers and /flex-processing, platform.claude.com/docs/en/build-with-claude/fast-mode and
 * /docs/manage-claude/data-residency (read 2026-11-26); OpenAI's by its SDK only: `auto` is what the project's settings say,
 * and the reply tells; so does `usage` of Anthropic's.
 */
export const VARIANTS = {
  service_tier: { usual: ['auto', 'default', 'standard', 'standard_only', 'on_demand'], left: 'auto' },
  speed: { usual: ['standard'], at: MESSAGES },
  inference_geo: { usual: ['global', 'not_available'], left: 'global', at: MESSAGES },
} as const satisfies Readonly<Record<string, Variant>>

/** The name of a row of `VARIANTS`. */
export type VariantName = keyof typeof VARIANTS

/** A service beside the usual one that a call asks for, or that served it. */
export interface AskedVariant {
  readonly name: VariantName
  readonly value: string
}

/** The services by which an upstream says that it has served a call. */
export type ServedVariants = { readonly [Name in VariantName]?: string }

const ROWS = Object.entries(VARIANTS) as [VariantName, Variant][]

/**
 * The services beside the usual one by which a call was `served`, or, as far as its upstream does not say, for which it asks, in its client's
 * own protocol.
 */
export function variantsIn(call: Pick<Call, 'endpoint' | 'member'>, served: ServedVariants = NOT_SAID): readonly AskedVariant[] {
  let asked = NONE
  for (const [name, { usual, at }] of ROWS) {
    const value = served[name] ?? (at?.includes(call.endpoint) === false ? undefined : call.member(name))
    if (value == null || usual.includes(value as string)) continue
    asked = [...asked, { name, value: typeof value === 'string' ? value : JSON.stringify(value) }]
  }
  return asked
}

/**
 * What served a call whose provider has `dropped` parameters: of a service that its upstream was not asked for, the usual one, unless the upstream
 * says otherwise.
 */
export function servedWithout(dropped: readonly string[], served: ServedVariants | undefined): ServedVariants | undefined {
  let known = served
  for (const [name, { usual }] of ROWS) if (dropped.includes(name)) known = { [name]: usual[0], ...known }
  return known
}

/** Whether a call leaves a service to the settings of the account at the vendor. */
export function leavesOpen(name: VariantName, call: Pick<Call, 'endpoint' | 'member'>): boolean {
  const { at, left }: Variant = VARIANTS[name]
  const value = call.member(name)
  return left !== undefined && at?.includes(call.endpoint) !== false && (value == null || value === left)
}

const NONE: readonly AskedVariant[] = []
const NOT_SAID: ServedVariants = {}
