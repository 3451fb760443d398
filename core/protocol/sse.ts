/**
 * Server-sent events out of bytes (WHATWG HTML §9.2.6), as cheaply as they come: bytes are kept as latin1 strings, so that no
 * split within a code point matters and what is passed on is what came in.
 */

/** Receives one event: its data, the frame that carries it to a client, and its `event:` type ('' if none). */
export type OnEvent = (data: string, frame: string, type: string) => void

/** Receives a line that is no field of an event: the standard has it passed over. */
export type OnStray = (line: string) => void

/** Takes events as they come, without a look at each of them. */
export interface RunReader {
  /** How much of a text, from its start, has nothing that one event by itself must be looked at for. */
  quiet(text: string): number
  /** Takes the frames of so many events, each of one line of JSON, an object by its braces. */
  pass(frames: string, count: number): void
}

/** The longest event accepted, in bytes: room for an image in one event, not for an endless line. */
export const MAX_EVENT = 8 << 20

/** Thrown where an event outgrows `MAX_EVENT`. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError'
}

/** Cuts a byte stream into events, wherever it is split. One instance reads one stream. */
export class SseReader {
  readonly #onEvent: OnEvent
  readonly #onStray: OnStray | undefined
  readonly #runs: RunReader | undefined
  /** The incomplete line at the end of what came so far. */
  #rest = ''
  #data: string[] = []
  #dataLength = 0
  #type = ''
  #first = true
  /** A CR ended the last piece: a LF at the start of the next belongs to it. */
  #afterCr = false

  constructor(onEvent: OnEvent, more: { readonly onStray?: OnStray; readonly runs?: RunReader } = {}) {
    this.#onEvent = onEvent
    this.#onStray = more.onStray
    this.#runs = more.runs
  }

  /** Calls `onEvent` for every event these bytes complete. */
  push(bytes: Buffer): void {
    let text = bytes.toString('latin1')
    if (this.#afterCr && text.length > 0) {
      if (text[0] === '\n') text = text.slice(1)
      this.#afterCr = false
    }
    // The rest has no line end: it is not searched again with every piece of a long line.
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

  /** The last line may have no end. What it belongs to is no event without a blank one. */
  end(): void {
    if (this.#rest !== '') this.#line(this.#rest)
    this.#rest = ''
  }

  /** The common case: LF only, and of that the common event, one `data: ` line and a blank one, kept as it is. */
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

  /** Most of what one read brings is quiet, and goes on in one piece. Returns where that ends. */
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
    // A line break inside JSON is white space: one line carries it as well.
    if (lines.length === 1) this.#onEvent(lines[0]!, frame(lines[0]!), type)
    else if (lines.length > 1) this.#onEvent(lines.join('\n'), frame(lines.join(' ')), type)
  }
}

/** The same, but for what V8 keeps: of a slice, all of the string it was cut from. */
const copied = (text: string): string => (text === '' ? '' : Buffer.from(text, 'latin1').toString('latin1'))

/** The event that carries one line of data. */
export function frame(data: string): string {
  return `data: ${data}\n\n`
}

/** UTF-8's byte order mark, read as latin1. */
const BOM = '\u00ef\u00bb\u00bf'
