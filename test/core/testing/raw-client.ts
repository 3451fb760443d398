import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A client that sees every byte: what each read gave, and how the connection ended. */
export class RawClient {
  readonly socket: Socket
  /** What each read of the socket gave. */
  readonly reads: string[] = []
  /** `fin` or the code of the error, such as `ECONNRESET`. */
  readonly end: Promise<string>

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1').on('data', (text) => this.reads.push(String(text)))
    this.end = new Promise((resolve) => {
      socket.once('end', () => resolve('fin'))
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
    })
  }

  get received(): string {
    return this.reads.join('')
  }

  /** Resolves once so many bytes have come. */
  async receives(count: number): Promise<void> {
    while (this.received.length < count) await once(this.socket, 'data')
  }
}

export async function rawClient(origin: string): Promise<RawClient> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return new RawClient(socket)
}

export const GET = 'GET /v1 HTTP/1.1\r\nhost: upstream\r\n\r\n'
