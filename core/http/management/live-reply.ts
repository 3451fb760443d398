import type { Readable } from 'node:stream'

/** How long whoever was signed out may go on reading. */
const LOOK_MS = 15_000

/** Ends a stream when its reader may no longer read it: a session that is ended must not live on in a reply without end. */
export function endWithItsReader(stream: Readable, mayRead: () => Promise<boolean>): void {
  const look = async () => {
    // A database that cannot be asked signs nobody out.
    if (!(await mayRead().catch(() => true))) stream.destroy()
  }
  const timer = setInterval(look, LOOK_MS).unref()
  stream.once('close', () => clearInterval(timer))
}
