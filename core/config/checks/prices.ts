import { matchesGlob } from '../../text/glob.ts'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, namespacesOf, type RawConfig } from '../file/raw-config.ts'
import { EXTRA_FIELDS, PRICE_FIELDS } from '../schema/prices.ts'
import { describeUnknown, type ModelNames } from './model-names.ts'
import { isCurated } from './raw-routes.ts'

/** A wrong price, and what to write instead. */
type Mistake = readonly [Path, why: string]

/** Finds prices that are incomplete, contradictory, or for models that never serve a call by themselves. */
export function checkPrices(raw: RawConfig, names: ModelNames): readonly Problem[] {
  const { prices } = asMap(raw.values)
  const namespaces = namespacesOf(raw.values) ?? {}
  const { models, unpriced, lists } = asMap(prices)
  const globs = Object.keys(asMap(models))
  const mistakes = globs.flatMap((glob, index): readonly Mistake[] => {
    const path = ['prices', 'models', glob]
    return [
      ...mistakesOfGlob(path, { glob, before: globs.slice(0, index), namespaces, names }),
      ...mistakesOfPrice(path, asMap(asMap(models)[glob])),
    ]
  })
  // The name of a price is in rows, exports and the console; values of references are secrets.
  const ofReferences = [...raw.references()]
    .filter(([path]) => path[0] === 'prices')
    .map(([path]): Mistake => [path, 'must not be a reference, because prices are shown to users; write the price itself'])
  const ofUnpriced = typeof unpriced === 'object' ? mistakesOfPrice(['prices', 'unpriced'], asMap(unpriced)) : []
  return [...mistakes, ...ofReferences, ...ofUnpriced, ...mistakesOfSources(asMap(asMap(lists).sources))].map(([path, why]) => ({
    span: path.length === 3 && path[1] === 'models' ? raw.file.keySpan(path) : raw.file.valueSpan(path),
    message: `${formatPath(path)} ${why}`,
  }))
}

/** Prices decide on money: what anybody on the way could change is not taken. */
function mistakesOfSources(sources: Readonly<Record<string, unknown>>): readonly Mistake[] {
  return Object.entries(sources).flatMap(([name, source]): readonly Mistake[] => {
    const { from, sha256 } = asMap(source)
    const path = ['prices', 'lists', 'sources', name, 'from']
    if (typeof from !== 'string' || !/^[a-z][a-z\d+.-]*:/i.test(from)) return []
    const url = URL.parse(from)
    if (url?.protocol === 'https:' && url.username === '') return []
    const isLocal = url?.protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
    if (isLocal || (url?.protocol === 'http:' && sha256 !== undefined)) return []
    return [
      [path, 'must be an https address without a password, or the path of a file; http only with "sha256", or on this machine'],
    ]
  })
}

interface GlobContext {
  readonly glob: string
  /** The globs above it. */
  readonly before: readonly string[]
  readonly namespaces: Readonly<Record<string, unknown>>
  readonly names: ModelNames
}

function mistakesOfGlob(path: Path, { glob, before, namespaces, names }: GlobContext): readonly Mistake[] {
  const unknown = names.unknownGlob(glob)
  if (unknown !== undefined) return [[path, `names no model: ${describeUnknown(unknown)}`]]
  const namespace = namespaces[glob.split('/', 1)[0]!]
  if (isCurated(namespace))
    return [
      [path, 'has no effect: a call costs what the model costs that serves it; give the targets of the curated model prices'],
    ]
  if (asMap(namespace).provider === 'sandbox')
    return [[path, 'has no effect: calls that the sandbox serves cost nothing; remove it']]
  // A model id that is written out precedes every glob.
  const earlier = glob.includes('*') ? before.find((other) => other.includes('*') && matchesGlob(other, glob)) : undefined
  return earlier === undefined
    ? []
    : [[path, `has no effect: ${JSON.stringify(earlier)} above it matches the same models; put the narrower one first`]]
}

/** The three ways to give a price. */
const KINDS = ['free', 'like']

function mistakesOfPrice(path: Path, price: Readonly<Record<string, unknown>>): readonly Mistake[] {
  const kind = KINDS.find((field) => price[field] !== undefined)
  if (kind !== undefined) {
    const other = Object.keys(price).find((field) => field !== kind && !(kind === 'like' && EXTRA_FIELDS.includes(field)))
    return other === undefined ? [] : [[[...path, other], `contradicts "${kind}"; keep one of the two`]]
  }
  // A misspelt field is reported by the schema: nothing else is missing.
  if (Object.keys(price).some((field) => !PRICE_FIELDS.includes(field))) return []
  const missing = ['input', 'output'].find((field) => price[field] === undefined)
  if (missing !== undefined)
    return [[path, `needs "${missing}", in US dollars per million tokens; write ${missing}: 0 if such tokens cost nothing`]]
  return Array.isArray(price.tiers) ? mistakesOfTiers([...path, 'tiers'], price.tiers) : []
}

function mistakesOfTiers(path: Path, tiers: readonly unknown[]): readonly Mistake[] {
  return tiers.flatMap((tier, index): readonly Mistake[] => {
    const { above, ...own } = asMap(tier)
    const same = tiers.findIndex((other) => asMap(other).above === above)
    if (same < index) return [[[...path, index, 'above'], `is the same as that of [${same}]; remove one of the two`]]
    return Object.keys(own).length === 0 ? [[[...path, index], 'has no prices; add some, for example input: 5']] : []
  })
}
