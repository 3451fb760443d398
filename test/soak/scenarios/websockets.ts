import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { cpuBetween, cpuSnapshot } from '../../../bench/cpu.ts'
import { startBackgroundClient } from '../background-client.ts'
import type { SoakedGateway } from '../fixture.ts'
import { growth, idleResources, type ProcessResources } from '../resources.ts'
import { atLeast, atMost, exactly, type Finding, type Scenario } from '../scenario.ts'
import { LongStreams } from './long-streams.ts'

const SOCKETS = 2000
/** Opened at the same time. */
const AT_ONCE = 50
const MEASURED_MS = 10_000
/** Of each socket that is not idle. */
const TURN_EVERY_MS = 5000
const SLOW_READERS = 60
const FLOODING = 20
const FLOOD_MS = 5000
const SLOWEST_MS = 1000
/** A translated response keeps its text, which its last event repeats: what the buffers of both kernels hold is some four megabytes of it. */
const UNREAD_KB = 6000
const KB = 1024
const MB = 1024 * KB

const message = (model: string): string =>
  JSON.stringify({ type: 'response.create', model, store: false, input: 'Tell me about it. '.repeat(20) })

/** Two thousand WebSockets, half of them idle; clients that do not read, or send without end; a gateway that is replaced by another one. */
export const websockets: Scenario = {
  name: 'websockets',
  seconds: 300,
  async run({ gateway, open, start, workspace }, progress) {
    const long = new LongStreams(open)
    progress('warming up')
    const first = await openSockets(gateway, FLOODING)
    for (const socket of first) await turn(socket, 'open/small')
    await close(first)
    const before = await idleResources(gateway)
    const findings: Finding[] = []

    progress(`${SOCKETS} sockets`)
    const sockets = await openSockets(gateway, SOCKETS)
    await delay(2000)
    const idle = await gateway.resources()
    const restMs = await cpuPerSecond(gateway)
    findings.push(
      exactly(SOCKETS, 'sockets that are open', await gateway.metric('umg_sockets_open')),
      atMost(20, 'KB', 'memory of an idle socket', growth(before, idle) / SOCKETS / KB),
      atMost(30, 'ms', 'CPU of all idle sockets, per second', restMs),
    )

    progress('half of them make turns')
    const background = startBackgroundClient(gateway, 'open/small')
    const turning = new Turns(sockets.slice(0, SOCKETS / 2), 'open/small')
    const busyMs = await cpuPerSecond(gateway)
    const { turns, broken } = await turning.stop()
    const perSecond = turns / (MEASURED_MS / 1000)
    findings.push(
      atLeast(100, '', 'turns per second', perSecond),
      exactly(0, 'turns that broke', broken),
      atMost(2, 'ms', 'CPU of a turn', (busyMs - restMs) / perSecond),
      atMost(SLOWEST_MS, 'ms', 'the slowest call of another client meanwhile', await background.stop()),
    )
    const remembered = await gateway.resources()
    findings.push(atMost(16, 'KB', 'memory of a conversation of one turn', growth(idle, remembered) / (SOCKETS / 2) / KB))
    await close(sockets)

    progress(`${SLOW_READERS} slow readers`)
    const empty = await idleResources(gateway)
    const readers = await openSockets(gateway, SLOW_READERS)
    for (const socket of readers) {
      socket.pause()
      socket.send(message('open/20'))
    }
    await long.stuck()
    findings.push(
      atMost(
        UNREAD_KB,
        'KB',
        'memory of a socket that is not read',
        growth(empty, await gateway.resources()) / SLOW_READERS / KB,
      ),
    )
    for (const socket of readers) socket.terminate()
    await long.cut()

    progress('a flood of messages')
    const steady = startBackgroundClient(gateway, 'open/small')
    const codes = await floodFor(FLOOD_MS, gateway)
    findings.push(
      exactly(0, 'floods that did not end with 1008', codes.filter((code) => code !== 1008).length),
      atMost(SLOWEST_MS, 'ms', 'the slowest call of another client meanwhile', await steady.stop()),
    )
    const after = await afterwards(gateway, before)
    findings.push(
      atMost(12, 'MB', 'memory kept', growth(before, after) / MB),
      atMost(2, '', 'descriptors kept', after.descriptors - before.descriptors),
    )

    progress('a gateway that is replaced')
    const next = await start(`sqlite:${workspace.scratch}/next.db`)
    const moving = new MovingClients(gateway, next, 100)
    await moving.begun()
    gateway.kill('SIGTERM')
    const moved = await moving.stop()
    return [
      ...findings,
      exactly(0, 'turns that broke when a gateway was replaced', moved.broken),
      exactly(100, 'sockets that it closed with 1012, and that were opened at the next one', moved.moved),
    ]
  },
}

async function afterwards(gateway: SoakedGateway, before: ProcessResources): Promise<ProcessResources> {
  while ((await gateway.metric('umg_sockets_open')) > 0) await delay(100)
  const after = await idleResources(gateway)
  return after.descriptors >= before.descriptors ? after : idleResources(gateway)
}

async function openSocket({ url, keys }: SoakedGateway): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${keys.many}` }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, { headers, perMessageDeflate: false })
  socket.on('error', () => undefined)
  await once(socket, 'open')
  return socket
}

async function openSockets(gateway: SoakedGateway, count: number): Promise<readonly WebSocket[]> {
  const sockets: WebSocket[] = []
  while (sockets.length < count) {
    const more = Math.min(AT_ONCE, count - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: more }, () => openSocket(gateway)))))
  }
  return sockets
}

async function close(sockets: readonly WebSocket[]): Promise<void> {
  await Promise.all(
    sockets.map(async (socket) => {
      if (socket.readyState === WebSocket.CLOSED) return
      socket.close()
      await once(socket, 'close')
    }),
  )
}

/** Milliseconds of processor time per second of all processes. */
async function cpuPerSecond({ pids }: SoakedGateway): Promise<number> {
  const start = pids.map((pid) => cpuSnapshot(pid))
  await delay(MEASURED_MS)
  const used = pids.reduce((sum, pid, index) => sum + cpuBetween(start[index]!, cpuSnapshot(pid)).used, 0)
  return used / 1e6 / (MEASURED_MS / 1000)
}

/** How a turn ended: with its response, or with the code of its socket. */
async function turn(socket: WebSocket, model: string): Promise<'completed' | 'error' | number> {
  const ended = Promise.withResolvers<'completed' | 'error' | number>()
  const onMessage = (data: Buffer): void => {
    if (data.includes('"response.completed"')) ended.resolve('completed')
    else if (data.includes('{"type":"error"')) ended.resolve('error')
  }
  const onClose = (code: number): void => ended.resolve(code)
  socket.on('message', onMessage).on('close', onClose)
  socket.send(message(model), (error) => error && ended.resolve(socket.readyState))
  const how = await ended.promise
  socket.off('message', onMessage).off('close', onClose)
  return how
}

/** Turns on many sockets, on each with a pause after it. */
class Turns {
  #isStopped = false
  #turns = 0
  #broken = 0
  readonly #running: Promise<unknown>

  constructor(sockets: readonly WebSocket[], model: string) {
    this.#running = Promise.all(
      sockets.map((socket, index) => this.#run(socket, model, (index / sockets.length) * TURN_EVERY_MS)),
    )
  }

  async stop(): Promise<{ readonly turns: number; readonly broken: number }> {
    this.#isStopped = true
    const turns = this.#turns
    await this.#running
    return { turns, broken: this.#broken }
  }

  async #run(socket: WebSocket, model: string, offset: number): Promise<void> {
    await delay(offset)
    while (!this.#isStopped) {
      const how = await turn(socket, model)
      this.#turns++
      if (how !== 'completed') this.#broken++
      for (let waited = 0; waited < TURN_EVERY_MS && !this.#isStopped; waited += 100) await delay(100)
    }
  }
}

/** Sends messages without waiting for answers. Resolves to the codes with which the sockets were closed. */
async function floodFor(ms: number, gateway: SoakedGateway): Promise<readonly number[]> {
  const codes: number[] = []
  const until = performance.now() + ms
  const flood = async (): Promise<void> => {
    while (performance.now() < until) {
      const socket = await openSocket(gateway)
      const closed = once(socket, 'close') as Promise<[number]>
      for (let sent = 0; sent < 200; sent++) socket.send(message('open/small'))
      codes.push((await closed)[0])
    }
  }
  await Promise.all(Array.from({ length: FLOODING }, flood))
  return codes
}

/** Clients that make one turn after the other, and go to the next gateway when theirs closes their socket. */
class MovingClients {
  #broken = 0
  #moved = 0
  #first = 0
  readonly #count: number
  readonly #running: Promise<unknown>

  constructor(from: SoakedGateway, to: SoakedGateway, count: number) {
    this.#count = count
    this.#running = Promise.all(Array.from({ length: count }, () => this.#run(from, to)))
  }

  /** Resolves when each has made a turn. */
  async begun(): Promise<void> {
    while (this.#first < this.#count) await delay(20)
  }

  async stop(): Promise<{ readonly broken: number; readonly moved: number }> {
    await this.#running
    return { broken: this.#broken, moved: this.#moved }
  }

  async #run(from: SoakedGateway, to: SoakedGateway): Promise<void> {
    const socket = await openSocket(from)
    let code: number | undefined
    socket.once('close', (closed: number) => (code = closed))
    for (let turns = 0; code === undefined; turns++) {
      const how = await turn(socket, 'open/small')
      if (turns === 0) this.#first++
      // A message that crosses the close was not begun.
      if (how === 'error') this.#broken++
      await delay(10)
    }
    if (code !== 1012) return
    const again = await openSocket(to)
    if ((await turn(again, 'open/small')) === 'completed') this.#moved++
    again.terminate()
  }
}
