import { STATUS_CODES } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { type Bytes, FIN, Hold, isBytes, type RST, type Step } from './script.ts'

/** Header names in the spelling to send; a list of values becomes one line each. */
export type HeaderLines = Readonly<Record<string, string | readonly string[]>>

/** How the end of a reply's body is marked: by its length, by chunks, or by the end of the connection. */
export type Framing = 'length' | 'chunked' | 'close'

/** How a reply is sent. */
export interface ReplyOptions {
  /** Default: 200. */
  readonly status?: number
  readonly headers?: HeaderLines
  /** Default: `length`; of `sse`: `chunked`. */
  readonly framing?: Framing
  /** Sent after the last chunk of a chunked body. */
  readonly trailers?: HeaderLines
}

/** A status line and exactly these headers. Also for an interim reply: `head(103, { link: '…' })`. */
export function head(status: number, headers: HeaderLines = {}): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${headerLines(headers)}\r\n`
}

/** One chunk of a chunked body. */
export function chunk(bytes: Bytes): Buffer {
  const data = Buffer.from(bytes)
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')])
}

/** The end of a chunked body. */
export function lastChunk(trailers: HeaderLines = {}): string {
  return `0\r\n${headerLines(trailers)}\r\n`
}

/** A whole reply: the head and the framed body. Steps of the body that are not bytes keep their positions. */
export function reply(body: readonly Step[], options: ReplyOptions = {}): Step[] {
  const { status = 200, headers = {}, framing = 'length', trailers } = options
  switch (framing) {
    case 'length':
      return [head(status, { ...headers, 'content-length': String(lengthOf(body)) }), ...body]
    case 'chunked': {
      const chunks = body.map((step) => (isBytes(step) ? chunk(step) : step))
      return [head(status, { ...headers, 'transfer-encoding': 'chunked' }), ...chunks, lastChunk(trailers)]
    }
    case 'close':
      return [head(status, { ...headers, connection: 'close' }), ...body, FIN]
  }
}

/** A JSON reply. */
export function json(value: unknown, options: ReplyOptions = {}): Step[] {
  return reply([JSON.stringify(value)], { ...options, headers: { 'content-type': 'application/json', ...options.headers } })
}

function headerLines(headers: HeaderLines): string {
  return Object.entries(headers)
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`))
    .join('')
}

function lengthOf(body: readonly Step[]): number {
  return body.filter(isBytes).reduce((sum, bytes) => sum + Buffer.byteLength(bytes), 0)
}

/** The end marker of OpenAI's streams. */
export const DONE = 'data: [DONE]\n\n'

/** The byte order mark that some servers send before the first event; a decoder drops it (HTML standard, "parsing an event stream"). */
export const BOM = '\uFEFF'

/** The text of one event: `data` as JSON, with an `event:` line if a type is given. */
export function event(data: unknown, type?: string): string {
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** The text of a comment, which servers send to keep a connection open. */
export function comment(text: string): string {
  return `: ${text}\n\n`
}

/** Returns the text with other line ends: `\n`, `\r\n` and `\r` are all legal in an event stream. */
export function withLineEnds(text: string, lineEnd: '\r\n' | '\r'): string {
  return text.replaceAll('\n', lineEnd)
}

/**
 * A chunked stream of events, one chunk each. An object becomes an event's JSON; strings and bytes are sent unchanged, such as
 * `comment('ping')`, `BOM`, `DONE` and broken events. Holds and ends may stand among them.
 */
export function sse(items: readonly (Step | object)[], options: ReplyOptions = {}): Step[] {
  const headers = { 'content-type': 'text/event-stream', ...options.headers }
  return reply(
    items.map((item) => (isStep(item) ? item : event(item))),
    { framing: 'chunked', ...options, headers },
  )
}

function isStep(item: Step | object): item is Step {
  return typeof item === 'symbol' || item instanceof Hold || isBytes(item as Step)
}

/**
 * The same bytes in other writes: split after every `at` bytes, or at the given offsets, whatever the original writes. Holds and
 * ends keep their positions. `Infinity` joins all bytes in one write.
 */
export function pieces(script: readonly Step[], at: number | readonly number[]): Step[] {
  let offset = 0
  return joined(script).flatMap((step) => {
    if (!Buffer.isBuffer(step)) return [step]
    const start = offset
    offset += step.length
    const cuts = typeof at === 'number' ? multiples(at, start, offset) : at.filter((cut) => start < cut && cut < offset)
    const edges = [start, ...cuts, offset].map((edge) => edge - start)
    return edges.slice(1).map((edge, index) => step.subarray(edges[index], edge))
  })
}

/** The script up to its first `count` bytes, followed by the end of the connection. */
export function cut(script: readonly Step[], count: number, ending: typeof FIN | typeof RST = FIN): Step[] {
  const kept: Step[] = []
  let left = count
  for (const step of script) {
    if (!isBytes(step)) {
      kept.push(step)
      continue
    }
    const bytes = Buffer.from(step)
    if (bytes.length >= left) return [...kept, bytes.subarray(0, left), ending]
    kept.push(bytes)
    left -= bytes.length
  }
  return [...kept, ending]
}

/** Joins adjacent bytes to one buffer. */
function joined(script: readonly Step[]): Step[] {
  const steps: Step[] = []
  for (const step of script) {
    const last = steps.at(-1)
    if (!isBytes(step)) steps.push(step)
    else if (Buffer.isBuffer(last)) steps[steps.length - 1] = Buffer.concat([last, Buffer.from(step)])
    else steps.push(Buffer.from(step))
  }
  return steps
}

function multiples(every: number, start: number, end: number): number[] {
  if (!(every >= 1)) throw new RangeError(`pieces of ${every} bytes are impossible: give a number from 1, or offsets`)
  const found: number[] = []
  for (let cut = (Math.floor(start / every) + 1) * every; cut < end; cut += every) found.push(cut)
  return found
}

/** A page of HTML, as an intermediate proxy sends it. Default status: 200. */
export function html(options: ReplyOptions = {}): Step[] {
  const page = '<!doctype html>\n<html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>\n'
  return reply([page], { ...options, headers: { 'content-type': 'text/html; charset=utf-8', ...options.headers } })
}

const ENCODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const

/** A reply with a compressed body, which is sent in one write. */
export function encoded(encoding: keyof typeof ENCODERS, body: Bytes | readonly Bytes[], options: ReplyOptions = {}): Step[] {
  const bytes = Buffer.concat((isBytes(body) ? [body] : body).map((piece) => Buffer.from(piece)))
  return reply([ENCODERS[encoding](bytes)], { ...options, headers: { ...options.headers, 'content-encoding': encoding } })
}

/** The forms of `retry-after`: the two of RFC 9110, and the milliseconds of OpenAI and its SDKs. */
export const RETRY_AFTER_FORMS = ['seconds', 'date', 'milliseconds'] as const

/** The header of a 429 or a 503 that asks clients to wait for this number of seconds. */
export function retryAfter(seconds: number, form: (typeof RETRY_AFTER_FORMS)[number] = 'seconds'): HeaderLines {
  switch (form) {
    case 'seconds':
      return { 'retry-after': String(seconds) }
    case 'date':
      return { 'retry-after': new Date(Date.now() + seconds * 1000).toUTCString() }
    case 'milliseconds':
      return { 'retry-after-ms': String(seconds * 1000) }
  }
}
