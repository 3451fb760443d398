import { GatewayError } from '../errors.ts'
import type { EndpointName } from '../sdk/api.ts'
import { fetchedMembers } from './addresses.ts'
import { endOfValue, type Member, type NestedMember, type ScannedObject, type Sought, scanObject, WantedKeys } from './json.ts'
import { checkKeys, folded, misspelled } from './keys.ts'
import { type EndpointMembers, type Guarded, MEMBERS } from './members.ts'

/** A member of a request that the gateway has to guard. */
export interface GuardedMember {
  readonly kind: Guarded
  /** Its place, as errors write it: `tools[0].model`. */
  readonly param: string
  /** Of a long value, only the beginning, as a text. */
  readonly value: unknown
  /** Offsets of the value in a JSON body. */
  readonly start: number
  readonly end: number
  /** Another member of the same object, as `value` is. Throws `GatewayError` (400) if servers may read two different ones. */
  beside(key: string): unknown
}

const SOUGHT = new Map<EndpointName, Sought>()

/** What the scan of an endpoint's requests finds below the top level: guarded members, and addresses that an upstream may fetch. */
export function soughtAt(endpoint: EndpointName): Sought {
  let sought = SOUGHT.get(endpoint)
  if (sought === undefined) {
    sought = { keys: rulesOf(endpoint)?.wanted, fetched: fetchedMembers(endpoint) }
    SOUGHT.set(endpoint, sought)
  }
  return sought
}

/** Whether the scan of an endpoint's requests notes members of this name. */
export const isMarkAt = (endpoint: EndpointName, name: string): boolean => rulesOf(endpoint)?.wanted.isMark(name) === true

/** The guarded members of a request that are not null. Throws `GatewayError` (400) for a name that some servers take for one of them. */
export function guardedIn(bytes: Buffer, scanned: ScannedObject, endpoint: EndpointName): readonly GuardedMember[] {
  const { members, nested } = scanned
  const rules = rulesOf(endpoint)
  const found: JsonMember[] = []
  const add = (kind: Guarded | undefined, path: NestedMember['path'], start = -1, object?: number): void => {
    if (kind !== undefined && start >= 0 && bytes[start] !== NULL)
      found.push(new JsonMember(bytes, { kind, path, start, object }))
  }
  for (const { key, start } of members) {
    add(rules?.top(key), [key], start)
    if (bytes[start] === OPEN_OBJECT) add(rules?.byId(key), [key, 'id'], memberOf(bytes, start, 'id'))
  }
  for (const { path, object, start } of nested) {
    const key = rules!.nameOf(path.at(-1) as string)
    // An object is judged by its own members.
    if (bytes[start] === OPEN_OBJECT) add(rules!.byId(key), [...path, 'id'], memberOf(bytes, start, 'id'))
    else add(rules!.below(key), path, start, object)
  }
  return withoutAddresses(found, scanned)
}

/** Google takes the address of a file as its id. What may be fetched is checked elsewhere, and nothing that the upstream keeps is meant. */
function withoutAddresses(found: readonly JsonMember[], scanned: ScannedObject): readonly JsonMember[] {
  if (!found.some(({ kind }) => kind === 'kept')) return found
  const fetched = new Set(scanned.addresses.map(({ path }) => path))
  return found.filter(({ kind, param }) => kind !== 'kept' || !fetched.has(param))
}

/** The same of a request without members below the top level, such as a form. */
export const guardedAmong = (call: {
  readonly keys: readonly string[]
  readonly endpoint: EndpointName
}): readonly GuardedMember[] =>
  call.keys.flatMap((param) => {
    const kind = rulesOf(call.endpoint)?.top(param)
    return kind === undefined ? [] : [{ kind, param, value: '', start: 0, end: 0, beside: () => undefined }]
  })

const OPEN_OBJECT = 0x7b
/** The first byte of `null`. */
const NULL = 0x6e

/** Values up to this size (bytes) are parsed: ids, names, and lists of them. */
const PARSED = 1024

class JsonMember implements GuardedMember {
  readonly kind: Guarded
  readonly start: number
  readonly #bytes: Buffer
  readonly #path: NestedMember['path']
  /** Offset of the object that it is a member of; absent at the top level. */
  readonly #object: number | undefined

  constructor(
    bytes: Buffer,
    place: {
      readonly kind: Guarded
      readonly path: NestedMember['path']
      readonly start: number
      readonly object: number | undefined
    },
  ) {
    this.kind = place.kind
    this.start = place.start
    this.#bytes = bytes
    this.#path = place.path
    this.#object = place.object
  }

  get param(): string {
    return this.#path
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
      .join('')
      .slice(1)
  }

  get end(): number {
    return endOfValue(this.#bytes, this.start)
  }

  get value(): unknown {
    return valueAt(this.#bytes, this.start)
  }

  beside(key: string): unknown {
    const start = this.#object === undefined ? undefined : memberOf(this.#bytes, this.#object, key)
    return start && valueAt(this.#bytes, start)
  }
}

function valueAt(bytes: Buffer, start: number): unknown {
  const end = endOfValue(bytes, start)
  if (end - start > PARSED) return bytes.toString('utf8', start, start + PARSED)
  try {
    return JSON.parse(bytes.toString('utf8', start, end))
  } catch {
    throw new GatewayError('invalid_json')
  }
}

/** Offset of the value of a member of the object at an offset. Throws `GatewayError` (400) for two of them, in any case of letters. */
function memberOf(bytes: Buffer, object: number, key: string): number | undefined {
  const { members } = scanObject(bytes.subarray(object, endOfValue(bytes, object)))
  const alike: readonly Member[] = members.filter((member) => member.key === key || folded(member.key) === key)
  checkKeys(alike.map((member) => member.key))
  const other = alike.find((member) => member.key !== key)
  if (other !== undefined) throw misspelled(other.key)
  const [member] = alike
  return member && object + member.start
}

interface Rule {
  /** Of a member of this name. */
  readonly kind?: Guarded
  /** Of the `id` of an object of this name. */
  readonly byId?: Guarded
}

/** The members of an endpoint, for fast look-ups. */
class MemberRules {
  readonly wanted: WantedKeys
  readonly #top: ReadonlyMap<string, Guarded>
  readonly #below = new Map<string, Rule>()

  constructor({ top, nested, marks = [], data }: EndpointMembers) {
    this.#top = new Map(Object.entries(top).filter((entry): entry is [string, Guarded] => GUARDED.has(entry[1])))
    const itemsOf: Record<string, string> = {}
    for (const [place, kind] of Object.entries(nested)) {
      const [, list, of, name] = PLACE.exec(place)!
      if (list !== undefined) itemsOf[name!] = list
      this.#below.set(of ?? name!, { ...this.#below.get(of ?? name!), ...(of === undefined ? { kind } : { byId: kind }) })
    }
    this.wanted = new WantedKeys({ names: [...this.#below.keys()], itemsOf, marks, data })
  }

  top(key: string): Guarded | undefined {
    return this.#top.get(key)
  }

  below(name: string): Guarded | undefined {
    return this.#below.get(name)?.kind
  }

  byId(name: string): Guarded | undefined {
    return this.#below.get(name)?.byId
  }

  /** The name of a wanted key. Throws `GatewayError` (400) if it only looks like one. */
  nameOf(key: string): string {
    if (this.#below.has(key)) return key
    throw misspelled(key)
  }
}

/** `model`, `audio.id` or `input[].id`. */
const PLACE = /^(?:(\w+)\[\]\.|(\w+)\.(?=id$))?(\w+)$/

const GUARDED: ReadonlySet<string> = new Set<Guarded>(['model', 'choice', 'kept', 'response', 'item', 'comparison', 'later'])

const RULES = new Map(Object.entries(MEMBERS).map(([endpoint, members]) => [endpoint, new MemberRules(members)]))

const rulesOf = (endpoint: EndpointName): MemberRules | undefined => RULES.get(endpoint)
