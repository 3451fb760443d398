import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type Hold, hold, type ReceivedRequest, reply, type Script, sse } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import type { SoakFixture } from '../fixture.ts'

/** A phase of a call in which the client disconnects. */
export interface Phase {
  /** Completes "an abort …". */
  readonly name: string
  /** The model to call. One call at a time is made in a phase. */
  readonly model: string
  /** Resolves when the next call has reached the phase. */
  arrival(): Promise<Arrival>
}

/** A call that has reached its phase. */
export interface Arrival {
  /** Resolves when the connection of the call has closed. */
  gone(): Promise<void>
}

/** An upstream that stalls in the middle of a reply. */
interface Stalling {
  readonly name: string
  readonly model: string
  readonly script: (stream: boolean, stall: Hold) => Script
}

const SAID = { text: ['Hel', 'lo!'] }
const EVENTS = openai.events(SAID)
const BODY = JSON.stringify(openai.whole(SAID))
const JSON_TYPE = { 'content-type': 'application/json' }

/** The first is the external service of a link, the others are the upstream. */
const STALLING: readonly Stalling[] = [
  { name: 'in a link', model: 'guarded/link', script: (_, stall) => [stall] },
  { name: 'before the head', model: 'open/head', script: (_, stall) => [stall] },
  {
    name: 'before the first event',
    model: 'open/event',
    script: (stream, stall) => (stream ? sse([stall, ...EVENTS]) : reply([stall, BODY], { headers: JSON_TYPE })),
  },
  {
    name: 'in the middle',
    model: 'open/middle',
    script: (stream, stall) =>
      stream
        ? sse([...EVENTS.slice(0, 2), stall, ...EVENTS.slice(2)])
        : reply([BODY.slice(0, 20), stall, BODY.slice(20)], { headers: JSON_TYPE }),
  },
]

/** All phases. The upstream stalls where the name of the model says. */
export function phasesOf({ open, blackholePort }: Pick<SoakFixture, 'open' | 'blackholePort'>): readonly Phase[] {
  const awaited = new Map<string, (arrival: Arrival) => void>()
  open.on((request) => {
    const { name, script } = STALLING.find(({ model }) => model.endsWith(`/${phaseOf(request)}`))!
    const stall = hold()
    void stall.reached.then(() => awaited.get(name)!({ gone: () => request.closed }))
    return script(request.headers.accept === 'text/event-stream', stall)
  })
  const stalling = STALLING.map(({ name, model }) => ({
    name,
    model,
    arrival: () => new Promise<Arrival>((resolve) => awaited.set(name, resolve)),
  }))
  return [...stalling, { name: 'while it connects', model: 'blackhole/model', arrival: () => connecting(blackholePort) }]
}

const phaseOf = (request: ReceivedRequest): unknown =>
  request.path === '/check' ? 'link' : (request.json() as { readonly model: unknown }).model

/** Only the kernel knows of a connection that is being established. */
async function connecting(port: number): Promise<Arrival> {
  while (!(await isConnecting(port))) await delay(2)
  return {
    async gone() {
      while (await isConnecting(port)) await delay(2)
    },
  }
}

/** Whether a connection to a loopback port waits for the reply to its SYN: state 02 in /proc/net/tcp (Linux, proc_net_tcp.rst). */
async function isConnecting(port: number): Promise<boolean> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  return (await readFile('/proc/net/tcp', 'latin1')).includes(` 0100007F:${hex} 02 `)
}
