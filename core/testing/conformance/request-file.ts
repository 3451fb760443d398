import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { SentRequest } from './redirect.ts'

/** If this variable is set, the suite writes the files of requests instead of comparing them. */
const WRITE = 'UMG_WRITE_REQUESTS'

/** Begins a section of a file: `### a text`. Editors that read .http files show it as the request's name. */
const TITLE = /^### (.+)\n/m

/** What differs from run to run without the provider's doing. */
const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'x-request-id'])

/** The longest line of a body that is not broken. */
const WIDTH = 120

/** A file of the upstream requests that a suite's calls must lead to: a section for each, in the format of .http files. */
export class RequestFile {
  readonly #url: URL
  readonly #wanted: ReadonlyMap<string, string>
  readonly #written = new Map<string, string>()
  readonly #writes = Boolean(process.env[WRITE])

  /** Reads the file. Without it, all comparisons fail, and say how to write it. */
  constructor(url: URL) {
    this.#url = url
    this.#wanted = readSections(url)
  }

  /** Throws an `AssertionError` if the file has another request at this title, or writes it. */
  expect(title: string, sent: string): void {
    assert.ok(!this.#written.has(title), `two requests of the suite have the title ${title}`)
    this.#written.set(title, sent)
    if (!this.#writes)
      assert.equal(sent, this.#wanted.get(title), `the request for "${title}" is not that of ${this.#name}. ${HOW}`)
  }

  /** Throws an `AssertionError` if the file has a request that no call led to. Writes the file if it is to be written. */
  finish(): void {
    if (!this.#writes) {
      const others = [...this.#wanted.keys()].filter((title) => !this.#written.has(title))
      assert.deepEqual(others, [], `${this.#name} has requests that the suite does not make. ${HOW}`)
      return
    }
    const sections = [...this.#written].map(([title, sent]) => `### ${title}\n${sent}\n`)
    writeFileSync(this.#url, `${HEAD}\n${sections.join('\n')}`)
  }

  get #name(): string {
    return fileURLToPath(this.#url)
  }
}

const HOW = `If it is right by the upstream's documentation, run the test with ${WRITE}=1, and read what changes in the file.`

const HEAD = `# The upstream requests that the calls of the conformance suite lead to. Written with ${WRITE}=1, to be read beside the upstream's documentation.
`

function readSections(url: URL): ReadonlyMap<string, string> {
  let file: string
  try {
    file = readFileSync(url, 'utf8')
  } catch {
    return new Map()
  }
  const [, ...parts] = file.split(TITLE)
  return new Map(parts.flatMap((part, index) => (index % 2 === 0 ? [[part, parts[index + 1]!.trimEnd()] as const] : [])))
}

/** A request as the file shows it. `headers`: values to show instead of those that differ from run to run. */
export function show(
  { method, origin = '', path, headers, body }: SentRequest,
  shown: Readonly<Record<string, string>> = {},
): string {
  const type = headers['content-type'] ?? ''
  const boundary = /boundary=(\S+)/.exec(type)?.[1] ?? ''
  const names = Object.keys(headers).filter((name) => !OF_THE_CONNECTION.has(name))
  const lines = names.sort().map((name) => `${name}: ${shown[name] ?? headers[name]}`)
  const content = type.startsWith('application/json') ? compact(JSON.parse(body.toString())) : readable(body)
  const text = [`${method} ${origin}${path}`, ...lines, ...(content === '' ? [] : ['', content])].join('\n').trimEnd()
  return boundary === '' ? text : text.replaceAll(boundary, 'BOUNDARY')
}

/** Bytes that are not text are shown in base64. */
const readable = (body: Buffer): string =>
  isUtf8(body) ? body.toString().replaceAll('\r\n', '\n') : `# in base64: ${body.toString('base64')}`

/** JSON in which all that fits stands on one line. */
function compact(value: unknown, indent = ''): string {
  const short = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + short.length <= WIDTH) return short
  const deeper = `${indent}  `
  const members = Array.isArray(value)
    ? value.map((item) => compact(item, deeper))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${compact(item, deeper)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${members.map((member) => deeper + member).join(',\n')}\n${indent}${close}`
}
