import { GatewayError } from '../errors.ts'
import type { EndpointName } from '../sdk/api.ts'
import { fetchedMembers } from './addresses.ts'
import { eachMember, endOfValue, type NestedMember, type ScannedObject, type Sought, WantedKeys } from './json.ts'
import { folded, misspelled } from './keys.ts'
import { type EndpointMembers, type Guarded, ITEM_CONTENT, MEMBERS } from './members.ts'

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
  /** Of the id of an item, one of the item's `ITEM_CONTENT`, `type` or `role`, as `value` is. Throws `GatewayError` (400) if servers may read two different ones. */
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
  let items: Map<number, Item> | undefined
  const add = (kind: Guarded | undefined, path: NestedMember['path'], start: number, object = -1): void => {
    if (kind === undefined || bytes[start] === NULL) return
    let item: Item | undefined
    if (kind === 'item') {
      items ??= new Map()
      item = items.get(object) ?? new Item(bytes, object)
      items.set(object, item)
    }
    found.push(new JsonMember(bytes, { kind, path, start, item }))
  }
  for (const { key, start } of members) add(rules?.top(key), [key], start)
  for (const { path, object, start } of nested) add(rules!.kindOf(path, bytes[start] === OPEN_OBJECT), path, start, object)
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
  /** Of the id of an item. */
  readonly #item: Item | undefined

  constructor(
    bytes: Buffer,
    place: {
      readonly kind: Guarded
      readonly path: NestedMember['path']
      readonly start: number
      readonly item: Item | undefined
    },
  ) {
    this.kind = place.kind
    this.start = place.start
    this.#bytes = bytes
    this.#path = place.path
    this.#item = place.item
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
    return readValue(this.#bytes, this.start, this.end)
  }

  beside(key: string): unknown {
    return this.#item?.member(key)
  }
}

/** An object of a list. Its members are read once, however many ids it has. */
class Item {
  readonly #bytes: Buffer
  readonly #object: number
  #members: ReadonlyMap<string, unknown> | undefined

  constructor(bytes: Buffer, object: number) {
    this.#bytes = bytes
    this.#object = object
  }

  /** The value of one of `ITEM_MEMBERS`. Throws `GatewayError` (400) for two of them, in any case of letters. */
  member(key: string): unknown {
    this.#members ??= this.#read()
    return this.#members.get(key)
  }

  #read(): ReadonlyMap<string, unknown> {
    const values = new Map<string, unknown>()
    eachMember(this.#bytes, this.#object, (key, start, end) => {
      if (ITEM_MEMBERS.has(key)) {
        if (values.has(key)) throw new GatewayError('duplicate_parameter', { param: key })
        values.set(key, readValue(this.#bytes, start, end))
      } else if (key.length <= LONGEST && ITEM_MEMBERS.has(folded(key))) throw misspelled(key)
    })
    return values
  }
}

/** The members that tell whether an item has its content. */
const ITEM_MEMBERS: ReadonlySet<string> = new Set(['type', 'role', ...Object.values(ITEM_CONTENT).flat()])
const LONGEST = Math.max(...[...ITEM_MEMBERS].map((name) => name.length))

function readValue(bytes: Buffer, start: number, end: number): unknown {
  if (end - start > PARSED) return bytes.toString('utf8', start, start + PARSED)
  try {
    return JSON.parse(bytes.toString('utf8', start, end))
  } catch {
    throw new GatewayError('invalid_json')
  }
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

  constructor({ top, nested, marks = [], tellsNames, data }: EndpointMembers) {
    this.#top = new Map(Object.entries(top).filter((entry): entry is [string, Guarded] => GUARDED.has(entry[1])))
    const itemsOf: Record<string, string> = {}
    for (const [place, kind] of Object.entries(nested)) {
      const [, list, of, name] = PLACE.exec(place)!
      if (list !== undefined) itemsOf[name!] = list
      this.#below.set(of ?? name!, { ...this.#below.get(of ?? name!), ...(of === undefined ? { kind } : { byId: kind }) })
    }
    const names = [...this.#below].filter(([, { kind }]) => kind !== undefined).map(([name]) => name)
    const idsOf = [...this.#below].filter(([, { byId }]) => byId !== undefined).map(([name]) => name)
    this.wanted = new WantedKeys({ names, itemsOf, idsOf, marks, tellsNames: tellsNames === true, data })
  }

  top(key: string): Guarded | undefined {
    return this.#top.get(key)
  }

  /** What a member below the top level is; undefined: nothing to guard. Throws `GatewayError` (400) if it only looks like one. */
  kindOf(path: NestedMember['path'], isObject: boolean): Guarded | undefined {
    const key = path.at(-1) as string
    const parent = path.at(-2)!
    if (typeof parent === 'string' && folded(key) === 'id') return this.#ofId(key, parent)
    const rule = this.#below.get(key)
    if (rule === undefined) throw misspelled(key)
    // An object is judged by its own members.
    return isObject ? undefined : rule.kind
  }

  #ofId(key: string, parent: string): Guarded | undefined {
    const rule = this.#below.get(parent)
    if (rule === undefined || key !== 'id') throw misspelled(rule === undefined ? parent : key)
    return rule.byId
  }
}

/** `model`, `audio.id` or `input[].id`. */
const PLACE = /^(?:(\w+)\[\]\.|(\w+)\.(?=id$))?(\w+)$/

const GUARDED: ReadonlySet<string> = new Set<Guarded>(['model', 'choice', 'kept', 'response', 'item', 'comparison', 'later'])

const RULES = new Map(Object.entries(MEMBERS).map(([endpoint, members]) => [endpoint, new MemberRules(members)]))

const rulesOf = (endpoint: EndpointName): MemberRules | undefined => RULES.get(endpoint)
