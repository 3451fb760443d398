import { Worker } from 'node:worker_threads'
import type { Statement, WriterAnswer, WriterTask } from './sqlite-writer-thread.ts'

/** Writes to a SQLite file in a thread of its own, so that whoever writes much waits for the disk and nobody else does. */
export interface SqliteWriter {
  /** Runs statements in one transaction. Resolves to how many rows each has changed. Throws what the database throws. */
  run(statements: readonly Statement[]): Promise<readonly number[]>
  close(): Promise<void>
}

/** The thread starts with the first statements, and again where it has died. */
export function createSqliteWriter(file: string): SqliteWriter {
  let thread: Worker | undefined
  /** They are answered in their order. */
  let waiting: PromiseWithResolvers<readonly number[]>[] = []
  let closing = false

  function start(): Worker {
    const worker = new Worker(new URL('./sqlite-writer-thread.ts', import.meta.url), { workerData: file })
    worker.on('message', (answer: WriterAnswer) => {
      const asked = waiting.shift()
      // With nothing to do it keeps no process alive.
      if (waiting.length === 0 && !closing) worker.unref()
      if ('changes' in answer) asked?.resolve(answer.changes)
      else asked?.reject(answer.error)
    })
    let reason: unknown
    worker.on('error', (error) => {
      reason = error
    })
    worker.on('exit', () => {
      thread = undefined
      const lost = waiting
      waiting = []
      for (const asked of lost) asked.reject(reason ?? new Error('the thread that writes to the database has ended'))
    })
    return worker
  }

  const send = (task: WriterTask): void => thread?.postMessage(task)

  return {
    run(statements) {
      thread ??= start()
      thread.ref()
      const asked = Promise.withResolvers<readonly number[]>()
      waiting.push(asked)
      send({ statements })
      return asked.promise
    },
    async close() {
      closing = true
      if (thread === undefined) return
      const { promise, resolve } = Promise.withResolvers<void>()
      thread.ref()
      thread.once('exit', () => resolve())
      send('close')
      await promise
    },
  }
}
