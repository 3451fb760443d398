import { GatewayError } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import { ContractViolation } from '../plugins/faults.ts'
import type { Call, ChatRequest, EndpointName, Media, ModelId, Upload } from '../sdk/api.ts'
import type { CallContext } from './call.ts'
import { type FormFile, type FormPart, newBoundary, writeForm } from './form.ts'
import { checkKeys, checkName } from './keys.ts'

/** Members that the gateway itself reads, and that are no texts. The upstream gets them as the client wrote them. */
const TYPED = new Set(['n', 'stream'])

/**
 * A client's form. Its members are texts, or lists of them; a file is described by its name, type and size. Links may read and replace texts.
 */
export class FormCall implements Call {
  readonly id: string
  readonly endpoint: EndpointName
  readonly includeUsage = false
  readonly large = false
  readonly keptTokens = 0
  readonly #context: CallContext
  readonly #boundary = newBoundary()
  #parts: readonly FormPart[]
  #byName: ReadonlyMap<string, readonly FormPart[]>
  #model: ModelId | undefined
  /** The files that count as memory. */
  readonly #counted = new Set<FormFile>()

  /** Throws a GatewayError (400) if the form is invalid. */
  constructor(parts: readonly FormPart[], context: CallContext) {
    this.id = context.id
    this.endpoint = context.endpoint
    this.#context = context
    this.#parts = parts
    this.#byName = byName(parts)
    this.#check()
  }

  get model(): ModelId {
    this.#model ??= this.#context.resolve(this.member('model') as string)
    return this.#model
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

  get keys(): readonly string[] {
    return [...this.#byName.keys()]
  }

  get body(): Readonly<ChatRequest> {
    return Object.fromEntries(this.keys.map((key) => [key, this.member(key)])) as ChatRequest
  }

  get headers(): Readonly<Record<string, string>> {
    return {
      ...this.#context.upstreamHeaders,
      'content-type': `multipart/form-data; boundary=${this.#boundary}`,
      accept: this.stream ? 'text/event-stream' : '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'unified-model-gateway',
      'x-request-id': this.id,
    }
  }

  mayHave(): boolean {
    return true
  }

  member(key: string): unknown {
    const values = (this.#byName.get(key) ?? []).map(({ value }) => described(key, value))
    return values.length > 1 ? values : values[0]
  }

  /** The form with some texts replaced, added, or (by `undefined`) removed. */
  form(members: Readonly<Record<string, unknown>>): Upload {
    return writeForm(withTexts(this.#parts, members), this.#boundary)
  }

  /** Its files of these names in memory. Rejects with the error of the context's memory if there is no room. */
  async files(names: readonly string[]): Promise<readonly File[]> {
    const files = this.#parts.flatMap(({ name, value }) => (typeof value !== 'string' && names.includes(name) ? [value] : []))
    for (const file of files) this.#count(file)
    return Promise.all(files.map(inMemory))
  }

  /** Each attempt may read them: the memory of the one before is free by then. */
  #count(file: FormFile): void {
    if (this.#counted.has(file)) return
    this.#context.memory.take(Math.ceil(file.size * BASE64))
    this.#counted.add(file)
  }

  /** The texts as JSON. */
  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return Buffer.from(JSON.stringify({ ...this.body, ...members }))
  }

  edit(pointer: string, value: unknown): void {
    if (this.#context.decided) throw new ContractViolation('EDIT_AFTER_NEXT')
    const [, key] = /^\/([^/]+)$/.exec(pointer) ?? []
    if (key === undefined) throw new RangeError(`a form has no member at ${pointer}`)
    this.#parts = withTexts(this.#parts, { [key.replaceAll('~1', '/').replaceAll('~0', '~')]: value })
    this.#byName = byName(this.#parts)
    this.#model = undefined
    this.#check()
  }

  #check(): void {
    const names = this.#parts.map(({ name }) => name)
    for (const name of names) checkName(name)
    const files = new Set(this.#parts.flatMap(({ name, value }) => (typeof value === 'string' ? [] : [name])))
    // Several files may have one name. A list has brackets at the end of its name, which stands once for each entry.
    checkKeys([...names.filter((name) => !files.has(name) && !name.endsWith('[]')), ...files])
    this.#context.check(this.body)
  }
}

closeFacade(FormCall)

const byName = (parts: readonly FormPart[]): ReadonlyMap<string, readonly FormPart[]> => Map.groupBy(parts, ({ name }) => name)

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
