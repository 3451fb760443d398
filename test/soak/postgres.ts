import { chmod, chown, glob, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import type { Processes, Service } from '../../bench/processes.ts'
import { freePort } from '../../bench/subjects.ts'
import { stopProcess } from './stop-process.ts'

/** A temporary PostgreSQL server, which can be stopped and started again. */
export interface Postgres {
  /** Of an empty database. */
  readonly url: string
  /** Ends it at once: connections break. Resolves when it is gone. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Runs a statement. Resolves to the rows of its answer. */
  query<Row extends object>(statement: string): Promise<readonly Row[]>
}

/** As nobody, for it refuses to run as root. */
const NOBODY = 65_534
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']

/** Makes a server in `scratch` and starts it. Throws where PostgreSQL is not installed. */
export async function startPostgres({
  processes,
  scratch,
}: {
  readonly processes: Processes
  readonly scratch: string
}): Promise<Postgres> {
  const bin = await binaries()
  const folder = join(scratch, 'postgres')
  await mkdir(folder)
  const isRoot = process.getuid!() === 0
  if (isRoot) {
    // It must be able to come as far as its own folder.
    await chmod(scratch, 0o711)
    await chown(folder, NOBODY, NOBODY)
  }
  const command = (name: string, ...args: readonly string[]) => {
    const [program, ...rest] = [...(isRoot ? AS_NOBODY : []), join(bin, name), ...args] as [string, ...string[]]
    return { name, program, args: rest }
  }
  const port = String(await freePort())
  const data = join(folder, 'data')
  await processes.run(command('initdb', '-D', data, '-U', 'soak', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'))
  const url = `postgres://soak@127.0.0.1:${port}/postgres`
  let service: Service | undefined

  async function start(): Promise<void> {
    const options = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`]
    service = processes.serve(command('postgres', '-D', data, '-p', port, ...options), join(scratch, 'postgres.log'))
    await service.ready(() =>
      query('select 1').then(
        () => true,
        () => undefined,
      ),
    )
  }

  const stop = (): Promise<void> => stopProcess(service!.pid, 'SIGINT')

  async function query<Row extends object>(statement: string): Promise<readonly Row[]> {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query<Row>(statement)).rows
    } finally {
      await client.end()
    }
  }

  await start()
  return { url, start, stop, query }
}

/** Debian installs the server's programs outside the PATH. */
async function binaries(): Promise<string> {
  const found = await Array.fromAsync(glob('/usr/lib/postgresql/*/bin/initdb'))
  const newest = found.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  if (newest === undefined) throw new Error('PostgreSQL is not installed: apt-get install -y postgresql')
  return dirname(newest)
}
