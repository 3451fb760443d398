import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'

/** How long whoever was signed out may go on reading. */
const LOOK_MS = 15_000

/** Who reads a stream, and how it is noted that it failed. */
export interface StreamReader {
  mayRead(): Promise<boolean>
  onError(error: unknown): void
}

/**
 * Watches over a reply that takes long: where it fails in the middle it is broken off, for its reader must not take part of it for
 * the whole; and a session that is ended does not live on in it.
 */
export function watchStream(stream: Readable, response: ServerResponse, { mayRead, onError }: StreamReader): void {
  stream.once('error', (error) => {
    onError(error)
    response.destroy()
  })
  const look = async () => {
    // A database that cannot be asked signs nobody out.
    if (!(await mayRead().catch(() => true))) response.destroy()
  }
  const timer = setInterval(look, LOOK_MS).unref()
  response.once('close', () => clearInterval(timer))
}
