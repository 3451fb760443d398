import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

/** A port to which connections are neither accepted nor refused. */
export interface Blackhole extends AsyncDisposable {
  readonly port: number
}

/** The smallest backlog. Linux completes one more connection than this before the server accepts any. */
const BACKLOG = 1

/** Listens in a blocked thread, and fills the backlog. */
export async function startBlackhole(): Promise<Blackhole> {
  const thread = new Worker(new URL(import.meta.url))
  const [port] = (await once(thread, 'message')) as [number]
  const fillers = Array.from({ length: BACKLOG + 1 }, () => connect(port, '127.0.0.1'))
  await Promise.all(fillers.map((filler) => once(filler, 'connect')))
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.on('error', () => {}).destroy()
      await thread.terminate()
    },
  }
}

if (!isMainThread) {
  const server = createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => {
    parentPort!.postMessage((server.address() as { port: number }).port)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
}
