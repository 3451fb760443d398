import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A reply as received. */
export interface WireReply {
  readonly status: number
  /** Names in lower case; repeated ones are joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>
  /** The decoded body, as Latin-1. */
  readonly body: string
}

/** A connection for arbitrary bytes, whose replies are separated by their framing. */
export class RawConnection {
  readonly socket: Socket
  /** How the other side closed: `fin`, or the code of the error, such as `ECONNRESET`. */
  readonly closed: Promise<string>
  #text = ''
  #isClosed = false
  #wake = (): void => {}

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#text += text
      this.#wake()
    })
    this.closed = new Promise((resolve) => {
      socket.once('end', () => resolve('fin'))
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
    })
    this.closed.then(() => {
      this.#isClosed = true
      this.#wake()
    })
  }

  /** The received bytes after the last reply. */
  get rest(): string {
    return this.#text
  }

  write(bytes: string | Uint8Array): void {
    if (typeof bytes === 'string') this.socket.write(bytes, 'latin1')
    else this.socket.write(bytes)
  }

  /** Reads the next reply, interim ones included. Throws if the connection closes first. */
  async reply(): Promise<WireReply> {
    for (;;) {
      const taken = takeReply(this.#text)
      if (taken !== undefined) {
        this.#text = taken.rest
        return taken.reply
      }
      await this.#more()
    }
  }

  /** Resolves when the text has been received. Throws if the connection closes first. */
  async until(mark: string): Promise<void> {
    while (!this.#text.includes(mark)) await this.#more()
  }

  async #more(): Promise<void> {
    if (this.#isClosed) throw new Error(`closed (${await this.closed}) after ${JSON.stringify(this.#text)}`)
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }
}

/** Connects to a base URL. `allowHalfOpen`: keeps the client's side open when the server closes. */
export async function rawConnection(url: string, allowHalfOpen = false): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen })
  await once(socket, 'connect')
  return new RawConnection(socket)
}

/** The reply at the beginning of a text; undefined if it is incomplete. */
function takeReply(text: string): { readonly reply: WireReply; readonly rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = headersOf(lines)
  const status = Number(statusLine.split(' ')[1])
  const body = takeBody(text.slice(end + 4), status < 200 ? {} : headers)
  return body && { reply: { status, headers, body: body.bytes }, rest: body.rest }
}

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase()
    const value = line.slice(name.length + 1).trim()
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  }
  return headers
}

interface TakenBody {
  readonly bytes: string
  readonly rest: string
}

function takeBody(text: string, headers: WireReply['headers']): TakenBody | undefined {
  if (headers['transfer-encoding'] === 'chunked') return takeChunks(text)
  const length = Number(headers['content-length'] ?? 0)
  return text.length < length ? undefined : { bytes: text.slice(0, length), rest: text.slice(length) }
}

function takeChunks(text: string): TakenBody | undefined {
  let bytes = ''
  let at = 0
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const start = lineEnd + 2
    const length = Number.parseInt(text.slice(at, lineEnd), 16)
    const end = start + length + 2
    if (text.length < end) return undefined
    if (length === 0) return { bytes, rest: text.slice(end) }
    bytes += text.slice(start, start + length)
    at = end
  }
}
