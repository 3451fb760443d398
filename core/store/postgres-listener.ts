import { setTimeout } from 'node:timers/promises'
import { Client, type ClientConfig } from 'pg'

/** What the triggers of migration 0002 notify. */
const CHANNEL = 'umg_keys'

const RETRY_MS = 250

/** Hears of every change of keys and accounts, whichever gateway or hand made it. */
export interface Listener {
  /** Whether a change was heard of, or may have been missed, since this was last asked. Throws while there is no connection. */
  changed(): boolean
  close(): Promise<void>
}

/** Begins to listen, and again whenever the connection breaks. Throws where the first one cannot be made. */
export async function listenForChanges(config: ClientConfig): Promise<Listener> {
  let client: Client | undefined
  let changed = false
  let closed = false

  /** Resolves with when the connection is over. */
  async function listen(): Promise<{ readonly over: Promise<void> }> {
    const next = new Client(config)
    const over = new Promise<void>((resolve) => next.once('end', resolve))
    next.on('notification', () => {
      changed = true
    })
    // What breaks a connection also ends it.
    next.on('error', () => {})
    try {
      await next.connect()
      await next.query(`listen ${CHANNEL}`)
    } catch (error) {
      await next.end()
      throw error
    }
    client = next
    // Closed meanwhile.
    if (closed) void next.end()
    return { over }
  }

  async function listenOn({ over }: { readonly over: Promise<void> }): Promise<void> {
    await over
    client = undefined
    while (!closed) {
      await setTimeout(RETRY_MS, undefined, { ref: false })
      const again = await listen().catch(() => undefined)
      // Whatever happened while nobody listened.
      changed = true
      if (again !== undefined) return listenOn(again)
    }
  }

  void listenOn(await listen())
  return {
    changed() {
      if (client === undefined) throw new Error('the connection to the database is lost')
      const before = changed
      changed = false
      return before
    },
    async close() {
      closed = true
      await client?.end()
    },
  }
}
