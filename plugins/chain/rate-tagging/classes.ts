import {
  GatewayError,
  type HostLog,
  InvalidConfig,
  type LimitScope,
  type Principal,
  parseRate,
  type RateLimits,
} from 'unified-model-gateway/plugin'

/** Limits, as routes.yaml writes them. */
interface WrittenLimits {
  readonly requests?: string
  readonly tokens?: string
  readonly concurrent?: number
}

/** A class, as routes.yaml writes it. */
interface WrittenClass extends WrittenLimits {
  readonly account?: WrittenLimits
  readonly onOutage?: 'serve' | 'refuse'
  readonly answerTokens?: number
}

interface ClassConfig {
  /** Of months. */
  readonly timeZone?: string
  readonly classes: Readonly<Record<string, WrittenClass>>
  readonly default: string
}

/** A rate class, ready for use. */
export interface RateClass {
  readonly name: string
  /** Those of each key, and those that all keys of an account share; absent: none. */
  readonly limits: { readonly key: RateLimits; readonly account?: RateLimits }
  /** Tokens to reserve for the answer of a call that sets no cap, if routes.yaml says it. */
  readonly answerTokens: number | undefined
}

/**
 * Finds the class of a principal: the one its key names, else the default. A key that names a class which is not declared is
 * refused: any other class might grant it what its owner must not have. Throws an InvalidConfig where the default is not declared.
 */
export function createClasses(
  { classes, default: fallback, timeZone = 'UTC' }: ClassConfig,
  log: HostLog,
): (principal: Principal) => RateClass {
  const declared = new Map(Object.entries(classes).map(([name, limits]) => [name, rateClassOf(name, limits, timeZone)]))
  const names = [...declared.keys()].join(', ')
  if (!declared.has(fallback))
    throw new InvalidConfig({ path: ['default'], message: `is not a declared class; the declared ones are ${names}` })
  const reported = new Set<string>()

  return ({ rateClass = fallback }) => {
    const found = declared.get(rateClass)
    if (found !== undefined) return found
    if (!reported.has(rateClass)) {
      reported.add(rateClass)
      log.warn({ class: rateClass, declared: names }, 'a key names a rate class that is not declared; its calls are refused')
    }
    const detail = `Your key names the rate class \`${rateClass}\`, which this gateway does not declare. Ask the operator to declare it or to give your key another class.`
    throw new GatewayError('request_refused', { values: { detail } })
  }
}

function rateClassOf(name: string, { onOutage, account, answerTokens, ...own }: WrittenClass, timeZone: string): RateClass {
  const limits = (of: WrittenLimits) => ({ ...limitsOf(of, timeZone), ...(onOutage !== undefined && { onOutage }) })
  return { name, limits: { key: limits(own), ...(account && { account: limits(account) }) }, answerTokens }
}

const limitsOf = ({ requests, tokens, concurrent }: WrittenLimits, timeZone: string): RateLimits => ({
  ...(requests !== undefined && { requests: parseRate(requests, timeZone) }),
  ...(tokens !== undefined && { tokens: parseRate(tokens, timeZone) }),
  ...(concurrent !== undefined && { concurrent }),
})

/** Who shares a limit. */
export type Scope = 'key' | 'account'

/** A limit that a call takes from: of its key, or of its account. */
export interface ScopedLimits extends LimitScope {
  readonly scope: Scope
}

/**
 * What a call of a principal takes from. A key that changes its class starts with unspent limits, and two links share a limit only where they name the
 * same class. A rotated key goes on with the limits of the key that it replaces.
 */
export function scopesOf({ name, limits: { key, account } }: RateClass, principal: Principal): readonly ScopedLimits[] {
  const ofKey = { scope: 'key', subject: `${name}/key/${principal.firstKeyId ?? principal.keyId}`, limits: key } as const
  if (account === undefined) return [ofKey]
  return [ofKey, { scope: 'account', subject: `${name}/account/${principal.account}`, limits: account }]
}
