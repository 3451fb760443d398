import type { Socket } from 'node:net'

/** Reads what a socket receives, piece by piece, on demand. The socket keeps flowing, so that its close is always noticed. */
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

  /** All bytes up to and without the mark, which is taken too; undefined where the connection closes before it. */
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

  /** The next so many bytes; undefined where the connection closes before them. */
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

  /** Waits for further bytes; false where none can come. */
  async #more(): Promise<boolean> {
    if (this.#ended) return false
    const length = this.#length
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    return this.#length > length
  }
}
