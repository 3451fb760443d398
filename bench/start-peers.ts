import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { install } from './install-peer.ts'
import type { Failure } from './measure.ts'
import type { Peer, Values } from './peers.ts'
import type { Place } from './place.ts'
import { accepts, freePort, type Subject, type Subjects } from './subjects.ts'

/** LiteLLM imports for ten seconds, on a busy machine for more. */
const START_MS = 120_000

/** Peers ready to serve, and why the others are not. */
export interface StartedPeers {
  readonly subjects: readonly Subject[]
  readonly failures: readonly Failure[]
}

/** Installs and starts peers, before the same upstream and with the same key as the gateway, and pauses each that serves. */
export async function startPeers(
  peers: readonly Peer[],
  place: Place,
  { direct, key }: Pick<Subjects, 'direct' | 'key'>,
  progress: (message: string) => void,
): Promise<StartedPeers> {
  const subjects: Subject[] = []
  const failures: Failure[] = []
  for (const peer of peers) {
    progress(`installing and starting ${peer.name}`)
    try {
      subjects.push(await startPeer(peer, place, { upstream: String(direct.port), key }))
    } catch (error) {
      place.processes.stopping.throwIfAborted()
      const { message: reason } = error as Error
      progress(`${peer.name} is left out: ${reason}`)
      failures.push({ subject: peer.name, reason })
    }
  }
  return { subjects, failures }
}

async function startPeer(peer: Peer, place: Place, before: Pick<Values, 'upstream' | 'key'>): Promise<Subject> {
  const installed = await install(peer, place.processes)
  const scratch = join(place.scratch, peer.name)
  await mkdir(scratch)
  const config = peer.config === undefined ? '' : join(scratch, `config${extname(peer.config)}`)
  const port = await freePort()
  const values: Values = { ...before, installed, scratch, config, port: String(port), node: process.execPath }
  if (peer.config !== undefined) {
    await writeFile(config, fill(await readFile(new URL(`peers/${peer.config}`, import.meta.url), 'utf8'), values))
  }
  const service = place.processes.serve(
    {
      name: peer.name,
      program: fill(peer.program, values),
      args: peer.args.map((argument) => fill(argument, values)),
      env: { ...peer.env, NO_PROXY: '127.0.0.1' },
      core: place.cores?.proxy,
      limitMs: START_MS,
    },
    join(scratch, 'output.log'),
  )
  try {
    await service.ready(async () => ((await accepts(port)) ? true : undefined))
  } finally {
    service.pause()
  }
  return {
    name: peer.name,
    port,
    pid: service.pid,
    peer: service,
    asks: (api) => {
      const { headers, ...asked } = peer.asks(api)
      const filled = Object.entries(headers ?? {}).map(([name, value]) => [name, fill(value, values)])
      return { ...asked, headers: Object.fromEntries(filled) }
    },
  }
}

/** Replaces the names in braces. */
export function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? values[name as keyof Values] : whole))
}
