import { FrameDecoder } from '../../../plugins/providers/bedrock/frames.ts'
import { chunkOf } from '../../plugins/providers/bedrock/invoke-model.ts'
import { event as frame } from '../../plugins/providers/bedrock/support.ts'

type Json = unknown
type Path = readonly (string | number)[]

/** A value with one member replaced or removed. */
export interface Mutant<Value> {
  /** `content[0].text: 7` */
  readonly name: string
  readonly value: Value
  /** The member that is not as it should be. */
  readonly member: string
  readonly path: string
  /** Whether the new value has a type that the member never has; else it is null, absent, empty, or an unknown word. */
  readonly isWrong: boolean
  /** Whether the new value is null or absent. */
  readonly isMissing: boolean
  /** `list`, `object` … of the new value. */
  readonly kind: string
}

/** What takes the place of a member. */
const REPLACEMENTS: readonly Json[] = [undefined, null, 'odd', 7, [], ['odd'], {}, { odd: 7 }]

const kindOf = (value: Json): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)

/** A JSON value and every member and element of it, each with every replacement but itself. */
export function mutantsOf(value: Json): Mutant<Json>[] {
  return [[], ...pathsOf(value)].flatMap((path: Path) =>
    REPLACEMENTS.filter((one) => one !== at(value, path) && (path.length > 0 || one !== undefined)).map((one) => {
      const original = at(value, path)
      const where = path
        .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
        .join('')
        .slice(1)
      return {
        name: `${where}: ${one === undefined ? 'absent' : JSON.stringify(one)}`,
        path: where,
        value: replaced(value, path, one),
        member: String(path.findLast((step) => typeof step === 'string')),
        kind: kindOf(one),
        isMissing: one == null,
        isWrong: one != null && original !== null && kindOf(one) !== kindOf(original),
      }
    }),
  )
}

function* pathsOf(value: Json, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    const inner = [...path, Array.isArray(value) ? Number(key) : key]
    yield inner
    yield* pathsOf(member, inner)
  }
}

const at = (value: Json, path: Path): Json =>
  path.reduce<Json>((inner, step) => (inner as Readonly<Record<string, Json>>)[step], value)

function replaced(value: Json, [step, ...rest]: Path, by: Json): Json {
  if (step === undefined) return by
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, Json>
  const member = replaced(copy[step], rest, by)
  if (member !== undefined) copy[step] = member
  else if (Array.isArray(copy)) copy.splice(step as number, 1)
  else delete copy[step]
  return copy
}

/** The same for the events of a stream: in each mutant one event is not as it should be. Of events of the same shape the first is taken. */
export function streamMutantsOf(stream: readonly (string | Uint8Array)[]): Mutant<readonly (string | Uint8Array)[]>[] {
  const seen = new Set<string>()
  return stream.flatMap((sent, index) => {
    const read = eventIn(sent)
    if (read === undefined || seen.has(shapeOf(read.data))) return []
    seen.add(shapeOf(read.data))
    return mutantsOf(read.data).map((mutant) => ({
      ...mutant,
      name: `event ${index} ${mutant.name}`,
      value: stream.with(index, read.write(mutant.value)),
    }))
  })
}

/** The members of a value, and its type. */
const shapeOf = (data: Json): string => JSON.stringify([(data as { type?: unknown }).type, [...pathsOf(data)]])

interface ReadEvent {
  /** Undefined where events have no name. */
  readonly type?: string
  readonly data: Json
  /** The event with other data, and maybe another name. */
  write(data: Json, type?: string): string | Uint8Array
}

/** An event of SSE, a line of JSON, or a frame of AWS, which may have an event of Claude in it; undefined for what has no JSON. */
function eventIn(sent: string | Uint8Array): ReadEvent | undefined {
  if (typeof sent !== 'string') {
    const [event] = [...new FrameDecoder().push(Buffer.from(sent))]
    const framed = JSON.parse(event!.data)
    if (event!.type === 'chunk') {
      const data = JSON.parse(Buffer.from(framed.bytes, 'base64').toString())
      return { type: data.type, data, write: (other) => chunkOf(other as object) }
    }
    return { type: event!.type, data: framed, write: (data, type = event!.type) => frame({ [type]: data }) }
  }
  const found = /^(event: .*\n)?((?:data: )?)(\{.*\})(\s*)$/.exec(sent)
  if (found === null) return undefined
  const [, line = '', before, json, after] = found
  const data = JSON.parse(json!)
  return {
    ...(typeof data.type === 'string' && { type: data.type }),
    data,
    write: (other, type) =>
      `${type === undefined || line === '' ? line : `event: ${type}\n`}${before}${JSON.stringify(other)}${after}`,
  }
}

type Bytes = string | Uint8Array

/** A stream whose events are others, or in another order. */
export interface ChangedStream {
  readonly name: string
  readonly value: readonly Bytes[]
  /** Whether the events with a known name are the good ones, in their order. */
  readonly isGood: boolean
  /** Whether the upstream says first of all that the answer is complete. */
  readonly isOver: boolean
  /** Whether the upstream's own end is among them. */
  readonly hasEnd: boolean
}

/**
 * A stream after a change of its grammar: events of an unknown name among the others, and each event and each kind of events under another name, left out,
 * sent twice, or at another place. `ends`: how many events at its end make it complete.
 */
export function changedGrammarsOf(stream: readonly Bytes[], ends: number): ChangedStream[] {
  const end = stream.length - ends
  const all = stream.flatMap((sent, index): ChangedStream[] => {
    if (eventIn(sent) === undefined) return []
    const change = (how: string, value: readonly Bytes[], kept: Partial<ChangedStream> = {}): ChangedStream => ({
      name: `event ${index} ${how}`,
      value,
      isGood: false,
      isOver: false,
      hasEnd: true,
      ...kept,
    })
    const without = stream.toSpliced(index, 1)
    const hasEnd = index < end
    return [
      change('after an unknown one', stream.toSpliced(index, 0, renamed(sent)), { isGood: eventIn(sent)!.type !== undefined }),
      change('renamed', stream.with(index, renamed(sent)), { hasEnd }),
      change('left out', without, { hasEnd }),
      change('twice', stream.toSpliced(index, 0, sent)),
      change('first', [sent, ...without], { isOver: !hasEnd }),
      change('last', [...without, sent]),
      ...(index + 1 < stream.length ? [change('after the next', stream.toSpliced(index, 2, stream[index + 1]!, sent))] : []),
    ]
  })
  const kinds = new Set(stream.map(kindOfEvent).filter((kind) => kind !== undefined))
  const others = [...kinds].map((kind): ChangedStream => {
    const isKind = (sent: Bytes) => kindOfEvent(sent) === kind
    return {
      name: `all ${kind} renamed`,
      value: stream.map((sent) => (isKind(sent) ? renamed(sent) : sent)),
      isGood: false,
      isOver: false,
      hasEnd: !stream.slice(end).some(isKind),
    }
  })
  return [...all, ...others]
}

/** Members by which a stream says that an answer ends, or why. Older versions of Ollama say that it is `done`, and not why. */
const ENDS = new Set(['type', 'finish_reason', 'stop_reason', 'finishReason', 'stopReason', 'done', 'status'])

/** What is in the arguments of a tool is the model's own. */
const isArgument = (path: Path): boolean =>
  path.slice(0, -1).some((step) => ['args', 'arguments', 'input'].includes(String(step)))

/** A stream after a change of its grammar in which a member has another name in all events. `ends` as above. */
export function renamedMembersOf(stream: readonly Bytes[], ends: number): ChangedStream[] {
  const events = stream.map((sent) => eventIn(sent))
  const members = events.map((read) => {
    const paths = read === undefined ? [] : [...pathsOf(read.data)].filter((path) => !isArgument(path))
    return new Set(paths.map((path) => path.at(-1)!).filter((step) => typeof step === 'string'))
  })
  const atEnd = new Set(members.slice(stream.length - ends).flatMap((names) => [...names]))
  return [...new Set(members.flatMap((names) => [...names]))].map((name) => ({
    name: `each ${name} renamed`,
    value: stream.map((sent, index) => events[index]?.write(withoutName(events[index].data, name)) ?? sent),
    isGood: false,
    isOver: false,
    hasEnd: !(ENDS.has(name) && atEnd.has(name)),
  }))
}

/** A value with the members of a name under one that nobody knows. */
function withoutName(value: Json, name: string): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((element) => withoutName(element, name))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key === name ? 'riddle' : key, withoutName(inner, name)]),
  )
}

/** The name of an event, or of its main member where events have none. */
function kindOfEvent(sent: Bytes): string | undefined {
  const read = eventIn(sent)
  return read && (read.type ?? mainMember(read.data as object))
}

/** The first member with an object or a list in it. */
const mainMember = (data: object): string =>
  Object.entries(data).find(([, value]) => typeof value === 'object' && value !== null)?.[0] ?? ''

/** The event under a name that nobody knows. */
function renamed(sent: Bytes): Bytes {
  const { type, data, write } = eventIn(sent)!
  if (type !== undefined) return write('type' in (data as object) ? { ...(data as object), type: 'riddle' } : data, 'riddle')
  const main = mainMember(data as object)
  return write(Object.fromEntries(Object.entries(data as object).map(([key, value]) => [key === main ? 'riddle' : key, value])))
}
