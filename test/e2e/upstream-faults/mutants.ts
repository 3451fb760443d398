import { FrameDecoder } from '../../../plugins/providers/bedrock/frames.ts'
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
  readonly data: Json
  write(data: Json): string | Uint8Array
}

/** An event of SSE, a line of JSON, or a frame of AWS; undefined for what has no JSON. */
function eventIn(sent: string | Uint8Array): ReadEvent | undefined {
  if (typeof sent !== 'string') {
    const [event] = [...new FrameDecoder().push(Buffer.from(sent))]
    return { data: JSON.parse(event!.data), write: (data) => frame({ [event!.type]: data }) }
  }
  const found = /^((?:event: .*\n)?(?:data: )?)(\{.*\})(\s*)$/.exec(sent)
  if (found === null) return undefined
  const [, before, json, after] = found
  return { data: JSON.parse(json!), write: (data) => `${before}${JSON.stringify(data)}${after}` }
}
