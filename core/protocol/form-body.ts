import { GatewayError } from '../errors.ts'
import type { ChatRequest, EndpointName, Media, Upload } from '../sdk/api.ts'
import { addressesInForm, type FoundAddress } from './addresses.ts'
import type { CallContext, ClientBody } from './call.ts'
import { type FormFile, type FormPart, newBoundary, writeForm } from './form.ts'
import { type GuardedMember, guardedAmong } from './guarded-members.ts'
import { checkKeys, checkName } from './keys.ts'

/** What a form is read for. */
type FormSource = Pick<CallContext, 'endpoint' | 'check' | 'memory'>

/** Members that the gateway itself reads, and that are no texts. The upstream gets them as the client wrote them. */
const TYPED = new Set(['n', 'stream'])

/**
 * A client's form. Its members are texts, or lists of them; a file is described by its name, type and size. Links may read and replace texts.
 */
export class FormBody implements ClientBody {
  readonly client = this
  readonly includeUsage = false
  readonly large = false
  readonly #source: FormSource
  readonly #parts: readonly FormPart[]
  readonly #byName: ReadonlyMap<string, readonly FormPart[]>
  readonly #boundary = newBoundary()
  /** The files that count as memory. */
  readonly #counted: Set<FormFile>

  /** `counted`: the files that count as memory already. Throws a GatewayError (400) if the form is invalid. */
  constructor(parts: readonly FormPart[], source: FormSource, counted = new Set<FormFile>()) {
    this.#source = source
    this.#parts = parts
    this.#byName = Map.groupBy(parts, ({ name }) => name)
    this.#counted = counted
    this.#check()
  }

  get endpoint(): EndpointName {
    return this.#source.endpoint
  }

  get type(): string {
    return `multipart/form-data; boundary=${this.#boundary}`
  }

  get model(): string {
    return this.member('model') as string
  }

  get stream(): boolean {
    return this.member('stream') === true
  }

  get choices(): number {
    return (this.member('n') as number | undefined) ?? 1
  }

  /** Without the files: what they hold is known to the upstream only. */
  get size(): number {
    return this.#parts.reduce((sum, { value }) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0), 0)
  }

  /** The forms of pictures have no files of other kinds. Some upstreams take the address of a recording. */
  get media(): Media {
    const files = this.#parts.filter(({ name, value }) => typeof value !== 'string' || name === 'url').length
    return this.endpoint.startsWith('images.') ? { pictures: files, files: 0 } : { pictures: 0, files }
  }

  get addresses(): readonly FoundAddress[] {
    return addressesInForm(this)
  }

  get guarded(): readonly GuardedMember[] {
    return guardedAmong(this)
  }

  get keys(): readonly string[] {
    return [...this.#byName.keys()]
  }

  get value(): Readonly<ChatRequest> {
    return Object.fromEntries(this.keys.map((key) => [key, this.member(key)])) as ChatRequest
  }

  member(key: string): unknown {
    const values = (this.#byName.get(key) ?? []).map(({ value }) => described(key, value))
    return values.length > 1 ? values : values[0]
  }

  /** No form is of a conversation. */
  shortMember(): undefined {
    return undefined
  }

  items(): readonly unknown[] {
    return []
  }

  mayHave(): boolean {
    return true
  }

  /** The texts as JSON. */
  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return Buffer.from(JSON.stringify({ ...this.value, ...members }))
  }

  /** The form with some texts replaced, added, or (by `undefined`) removed. */
  upload(members: Readonly<Record<string, unknown>>): Upload {
    return writeForm(withTexts(this.#parts, members), this.#boundary)
  }

  /** Its files of these names in memory. Rejects with the error of the source's memory if there is no room. */
  async files(names: readonly string[]): Promise<readonly File[]> {
    const files = this.#parts.flatMap(({ name, value }) => (typeof value !== 'string' && names.includes(name) ? [value] : []))
    for (const file of files) this.#count(file)
    return Promise.all(files.map(inMemory))
  }

  edited(pointer: string, value: unknown): FormBody {
    const [, key] = /^\/([^/]+)$/.exec(pointer) ?? []
    if (key === undefined) throw new RangeError(`a form has no member at ${pointer}`)
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    return new FormBody(withTexts(this.#parts, { [name]: value }), this.#source, this.#counted)
  }

  /** Its files are closed by who has read it. */
  release(): void {}

  /** Each attempt may read them: the memory of the one before is free by then. */
  #count(file: FormFile): void {
    if (this.#counted.has(file)) return
    this.#source.memory.take(Math.ceil(file.size * BASE64))
    this.#counted.add(file)
  }

  #check(): void {
    const names = this.#parts.map(({ name }) => name)
    for (const name of names) checkName(name)
    const files = new Set(this.#parts.flatMap(({ name, value }) => (typeof value === 'string' ? [] : [name])))
    // Several files may have one name. A list has brackets at the end of its name, which stands once for each entry.
    checkKeys([...names.filter((name) => !files.has(name) && !name.endsWith('[]')), ...files])
    this.#source.check(this.value)
  }
}

/** Characters for a byte. */
const BASE64 = 4 / 3

async function inMemory({ filename, type, size, read }: FormFile): Promise<File> {
  const pieces = await Array.fromAsync(read())
  return new File([Buffer.concat(pieces, size)], filename, { type })
}

function described(key: string, value: FormPart['value']): unknown {
  if (typeof value !== 'string') return { filename: value.filename, type: value.type, size: value.size }
  if (!TYPED.has(key)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function withTexts(parts: readonly FormPart[], members: Readonly<Record<string, unknown>>): readonly FormPart[] {
  const texts = new Map(Object.entries(members).map(([name, value]) => [name, textsOf(name, value)]))
  const placed = new Set<string>()
  const replaced = parts.flatMap((part) => {
    const own = texts.get(part.name)
    if (own === undefined) return [part]
    const isFirst = !placed.has(part.name)
    placed.add(part.name)
    return isFirst ? own : []
  })
  return [...replaced, ...[...texts].flatMap(([name, own]) => (placed.has(name) ? [] : own))]
}

function textsOf(name: string, value: unknown): readonly FormPart[] {
  if (value === undefined) return []
  return [value].flat().map((each) => {
    if (typeof each === 'object' && each !== null)
      throw new GatewayError('invalid_type', {
        param: name,
        values: { expected: 'a string', actual: 'an object' },
      })
    return { name, value: String(each) }
  })
}
