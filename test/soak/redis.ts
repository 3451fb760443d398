import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import type { Processes, Service } from '../../bench/processes.ts'
import { freePort } from '../../bench/subjects.ts'
import { stopProcess } from './stop-process.ts'

/** What a Redis server knows when it starts: nothing, what it had when it was copied, or what it had when it was stopped. */
export type Known = 'nothing' | 'the copy' | 'all'

/** A temporary Redis server, which can be stopped, and started with what it had or without. */
export interface Redis {
  readonly url: string
  /** Keeps a copy of its data, to start with later. */
  copy(): Promise<void>
  /** Ends it after it has written its data. Resolves when it is gone. */
  stop(): Promise<void>
  start(known: Known): Promise<void>
  /** Makes it hang: it answers nothing, and connections stay open. */
  pause(): void
  resume(): void
  /** Writes text that is no state into all that it has. */
  spoil(): Promise<void>
}

/** Starts a server with its data in `scratch`. */
export async function startRedis({
  processes,
  scratch,
}: {
  readonly processes: Processes
  readonly scratch: string
}): Promise<Redis> {
  const folder = join(scratch, 'redis')
  await mkdir(folder)
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const [data, copied] = [join(folder, 'dump.rdb'), join(folder, 'copy.rdb')]
  let service: Service | undefined

  async function start(known: Known): Promise<void> {
    if (known === 'nothing') await rm(data, { force: true })
    if (known === 'the copy') await copyFile(copied, data)
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
    service = processes.serve({ name: 'Redis', program: 'redis-server', args: options }, join(scratch, 'redis.log'))
    await service.ready(() =>
      tell(url, 'PING').then(
        () => true,
        () => undefined,
      ),
    )
  }

  await start('nothing')
  return {
    url,
    start,
    pause: () => service!.pause(),
    resume: () => service!.resume(),
    async copy() {
      await tell(url, 'SAVE')
      await copyFile(data, copied)
    },
    async spoil() {
      await tell(url, 'EVAL', "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('SET', key, '{junk') end", '0')
    },
    async stop() {
      await tell(url, 'SAVE')
      await stopProcess(service!.pid, 'SIGKILL')
    },
  }
}

async function tell(url: string, ...command: readonly string[]): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: false } })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.sendCommand(command)
  } finally {
    client.destroy()
  }
}
