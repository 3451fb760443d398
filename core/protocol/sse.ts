/**
 * Parses server-sent events (WHATWG HTML §9.2.6) at low cost: bytes are kept as latin1 strings, so that a split within a code
 * point does no harm and the output bytes equal the input bytes.
 */

/** Receives one event: its data, the frame that carries it to a client, and its `event:` type ('' if none). */
export type OnEvent = (data: string, frame: string, type: string) => void

/** Receives a line that is not an SSE field: the standard ignores it. */
export type OnStray = (line: string) => void

/** Receives runs of events without reading each event. */
export interface RunReader {
  /** Length of the prefix of a text in which no event must be read by itself. */
  quiet(text: string): number
  /** Receives the frames of `count` events, each one line of JSON, an object by its braces. */
  pass(frames: string, count: number): void
}

/**
 * The longest event, in bytes: an upstream must not fill the memory with an endless line. Models that answer with images send each as base64
 * in one event of one to three megabytes.
 */
export const MAX_EVENT = 8 << 20

/** Thrown if an event exceeds `MAX_EVENT`. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError'
}

/** Splits a byte stream, chunked anywhere, into events. One instance reads one stream. */
export class SseReader {
  readonly #onEvent: OnEvent
  readonly #onStray: OnStray | undefined
  readonly #runs: RunReader | undefined
  /** The incomplete line at the end of the input so far. */
  #rest = ''
  #data: string[] = []
  #dataLength = 0
  #type = ''
  #first = true
  /** The last piece ended in CR: a LF at the start of the next belongs to it. */
  #afterCr = false

  constructor(onEvent: OnEvent, more: { readonly onStray?: OnStray; readonly runs?: RunReader } = {}) {
    this.#onEvent = onEvent
    this.#onStray = more.onStray
    this.#runs = more.runs
  }

  /** Calls `onEvent` for every event that the bytes complete. */
  push(bytes: Buffer): void {
    let text = bytes.toString('latin1')
    if (this.#afterCr && text.length > 0) {
      if (text[0] === '\n') text = text.slice(1)
      this.#afterCr = false
    }
    // The rest has no line end: a long line is not searched again with every piece.
    const hasCr = text.includes('\r')
    const hasLine = hasCr || text.includes('\n')
    text = this.#rest + text
    if (this.#first) {
      if (text.length < 3 && BOM.startsWith(text)) {
        this.#rest = text
        return
      }
      this.#first = false
      if (text.startsWith(BOM)) text = text.slice(3)
    }
    if (!hasLine) this.#rest = text
    else this.#rest = copied(hasCr ? this.#readAnyLines(text) : this.#readLfLines(text))
    if (this.#rest.length + this.#dataLength > MAX_EVENT) throw new EventTooLongError()
  }

  /** The last line may lack a line end. Its event needs a blank line to be dispatched. */
  end(): void {
    if (this.#rest !== '') this.#line(this.#rest)
    this.#rest = ''
  }

  /** The common case: LF only. The common event, one `data: ` line and a blank line, is kept unchanged. */
  #readLfLines(text: string): string {
    let start = this.#runs === undefined ? 0 : this.#takeRun(text, this.#runs)
    for (;;) {
      const end = text.indexOf('\n', start)
      if (end < 0) return text.slice(start)
      if (this.#data.length === 0 && this.#type === '' && text.startsWith('data: ', start) && text[end + 1] === '\n') {
        this.#onEvent(text.slice(start + 6, end), text.slice(start, end + 2), '')
        start = end + 2
      } else {
        this.#line(text.slice(start, end))
        start = end + 1
      }
    }
  }

  /** Passes on the leading quiet run, usually most of a read, in one piece. Returns its end. */
  #takeRun(text: string, runs: RunReader): number {
    if (this.#data.length > 0 || this.#type !== '') return 0
    const quiet = runs.quiet(text)
    let start = 0
    let count = 0
    for (;;) {
      const end = text.indexOf('\n', start)
      if (end < 0 || end >= quiet || text[end + 1] !== '\n' || text[end - 1] !== '}' || !text.startsWith('data: {', start)) break
      start = end + 2
      count++
    }
    if (count > 0) runs.pass(text.slice(0, start), count)
    return start
  }

  #readAnyLines(text: string): string {
    let start = 0
    for (;;) {
      let end = start
      while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++
      if (end === text.length) return text.slice(start)
      this.#line(text.slice(start, end))
      if (text[end] === '\r') {
        if (end + 1 === text.length) this.#afterCr = true
        else if (text[end + 1] === '\n') end++
      }
      start = end + 1
    }
  }

  #line(line: string): void {
    if (line === '') {
      this.#dispatch()
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      this.#data.push(value)
      this.#dataLength += value.length
    } else if (field === 'event') this.#type = value
    else if (field !== 'id' && field !== 'retry') this.#onStray?.(line)
  }

  #dispatch(): void {
    const lines = this.#data
    const type = this.#type
    this.#data = []
    this.#dataLength = 0
    this.#type = ''
    // A line break inside JSON is white space: one line is equivalent.
    if (lines.length === 1) this.#onEvent(lines[0]!, frame(lines[0]!), type)
    else if (lines.length > 1) this.#onEvent(lines.join('\n'), frame(lines.join(' ')), type)
  }
}

/** Copies a slice: V8 keeps the whole string that a slice was cut from. */
const copied = (text: string): string => (text === '' ? '' : Buffer.from(text, 'latin1').toString('latin1'))

/** Frames one line of data as an event. */
export function frame(data: string): string {
  return `data: ${data}\n\n`
}

/** UTF-8 byte order mark, read as latin1. */
const BOM = '\u00ef\u00bb\u00bf'
