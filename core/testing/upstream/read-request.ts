import type { Socket } from 'node:net'

/** A request as received. */
export interface RequestMessage {
  readonly method: string
  /** Path and query, as sent. */
  readonly path: string
  /** Names in lower case; the values of repeated names are joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>
  /** Names and values in their original order and spelling. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.1$/
const HEADER_LINE = /^([^\s:]+): ?(.*)$/
const CHUNK_LINE = /^([0-9a-fA-F]+)$/

/**
 * Reads the next HTTP/1.1 request, whole or up to its body; undefined if the connection closes first. Throws an Error that quotes
 * a line that is not HTTP/1.1.
 */
export async function readRequest(reader: SocketReader, readBody: boolean): Promise<RequestMessage | undefined> {
  const bytes = await reader.until('\r\n\r\n')
  if (bytes === undefined) return undefined
  const [requestLine = '', ...lines] = bytes.toString('latin1').split('\r\n')
  const [, method = '', path = ''] = matched(REQUEST_LINE, requestLine)
  const rawHeaders = lines.map((line) => {
    const [, name = '', value = ''] = matched(HEADER_LINE, line)
    return [name, value] as const
  })
  const headers = joined(rawHeaders)
  const body = readBody ? await readBodyOf(headers, reader) : Buffer.alloc(0)
  return body && { method, path, headers, rawHeaders, body }
}

function readBodyOf(headers: Readonly<Record<string, string>>, reader: SocketReader): Promise<Buffer | undefined> {
  return headers['transfer-encoding'] === 'chunked' ? readChunks(reader) : reader.exactly(Number(headers['content-length'] ?? 0))
}

async function readChunks(reader: SocketReader): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  for (;;) {
    const line = await reader.until('\r\n')
    if (line === undefined) return undefined
    const [, size = ''] = matched(CHUNK_LINE, line.toString('latin1'))
    if (Number.parseInt(size, 16) === 0) return (await skipTrailers(reader)) ? Buffer.concat(chunks) : undefined
    const chunk = await reader.exactly(Number.parseInt(size, 16))
    if (chunk === undefined || (await reader.exactly(2)) === undefined) return undefined
    chunks.push(chunk)
  }
}

/** Reads to the empty line that ends a chunked body; false if the connection closes before it. */
async function skipTrailers(reader: SocketReader): Promise<boolean> {
  let line = await reader.until('\r\n')
  while (line !== undefined && line.length > 0) line = await reader.until('\r\n')
  return line !== undefined
}

function joined(rawHeaders: RequestMessage['rawHeaders']): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of rawHeaders) {
    const key = name.toLowerCase()
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value
  }
  return headers
}

function matched(pattern: RegExp, line: string): RegExpExecArray {
  const match = pattern.exec(line)
  if (match === null) throw new Error(`the scripted upstream received a line that is not HTTP/1.1: ${JSON.stringify(line)}`)
  return match
}

/** Reads from a socket on demand. The socket keeps flowing, so that its close is always noticed. */
export class SocketReader {
  #chunks: Buffer[] = []
  #length = 0
  #ended = false
  #wake = (): void => {}

  constructor(socket: Socket) {
    socket.on('data', (chunk) => {
      this.#chunks.push(chunk)
      this.#length += chunk.length
      this.#wake()
    })
    socket.once('close', () => {
      this.#ended = true
      this.#wake()
    })
  }

  /** The bytes before the mark, which is consumed too; undefined if the connection closes before it. */
  async until(mark: string): Promise<Buffer | undefined> {
    for (;;) {
      const bytes = this.#joined()
      const at = bytes.indexOf(mark)
      if (at >= 0) {
        this.#keep(bytes.subarray(at + mark.length))
        return bytes.subarray(0, at)
      }
      if (!(await this.#more())) return undefined
    }
  }

  /** The next `count` bytes; undefined if the connection closes before them. */
  async exactly(count: number): Promise<Buffer | undefined> {
    while (this.#length < count) if (!(await this.#more())) return undefined
    const bytes = this.#joined()
    this.#keep(bytes.subarray(count))
    return bytes.subarray(0, count)
  }

  #joined(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
  }

  #keep(bytes: Buffer): void {
    this.#chunks = [bytes]
    this.#length = bytes.length
  }

  /** Waits for further bytes; false if the connection has closed. */
  async #more(): Promise<boolean> {
    if (this.#ended) return false
    const length = this.#length
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return this.#length > length
  }
}
