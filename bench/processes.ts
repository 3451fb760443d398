import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { SEARCH_PATH } from './prerequisites.ts'

/** A program to start. */
export interface Command {
  /** What errors call it. */
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  /** Beside the benchmark's own. */
  readonly env?: Readonly<Record<string, string>>
  /** The processor core it is bound to; absent: any. */
  readonly core?: number
  /** How many milliseconds it may take to end, or, as a service, to serve; absent: a minute, or half of one. */
  readonly limitMs?: number
}

/** A program that serves until the benchmark ends. */
export interface Service {
  readonly pid: number
  /** All that it has printed so far. */
  output(): string
  /** Waits for what `probe` finds, as long as the command's limit; throws where the program ends first. */
  ready<Found>(probe: () => Found | undefined | Promise<Found | undefined>): Promise<Found>
  /** Stops its process tree where it is, so that it takes no processor time. */
  pause(): void
  /** Lets it go on. */
  resume(): void
}

/** The children of the benchmark. All of them end with it: on an error and on Ctrl-C too. */
export interface Processes extends AsyncDisposable {
  /** Aborted when this process is told to end. */
  readonly stopping: AbortSignal
  /** Starts a service; what it prints goes to a file, as it would in production. */
  serve(command: Command, logFile: string): Service
  /** Runs a program to its end and returns what it printed. Throws with its complaint where it fails or takes too long. */
  run(command: Command): Promise<string>
}

/** Without the operator's own settings of a gateway: a benchmark must not create a key in a database that is in use. */
const ENVIRONMENT = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('UMG_'))),
  PATH: SEARCH_PATH,
}

const READY_MS = 30_000
const RUN_MS = 60_000
const STOP_MS = 5_000
const POLL_MS = 50

/** Makes the registry of children, and ends them when this process is told to end. */
export function createProcesses(): Processes {
  const running = new Set<ChildProcess>()
  const stopping = new AbortController()

  function start(command: Command, stdio: ('ignore' | 'pipe' | number)[]): ChildProcess {
    stopping.signal.throwIfAborted()
    const pin = command.core === undefined ? [] : ['taskset', '--cpu-list', String(command.core)]
    const [program, ...args] = [...pin, command.program, ...command.args] as [string, ...string[]]
    // A group of its own: it is ended as a whole, workers included, and Ctrl-C reaches only the benchmark, which ends it.
    const child = spawn(program, args, { stdio, detached: true, env: { ...ENVIRONMENT, ...command.env } })
    running.add(child)
    child.once('close', () => running.delete(child))
    return child
  }

  function signalAll(signal: NodeJS.Signals): void {
    for (const { pid } of running) if (pid !== undefined) signalGroup(pid, signal)
  }

  async function stop(): Promise<void> {
    stopping.abort(new Error('interrupted'))
    const closed = Promise.all([...running].map((child) => once(child, 'close')))
    // Not SIGTERM: with that the gateway would wait for a load balancer to notice.
    signalAll('SIGINT')
    // What is paused gets no signal before it goes on.
    signalAll('SIGCONT')
    await Promise.race([closed, delay(STOP_MS, undefined, { ref: false })])
    signalAll('SIGKILL')
  }

  const forget = onEnd(stop, () => signalAll('SIGKILL'))

  return {
    stopping: stopping.signal,
    serve(command, logFile) {
      const log = openSync(logFile, 'a')
      const child = start(command, ['ignore', log, log])
      closeSync(log)
      const output = () => readFileSync(logFile, 'utf8')
      return {
        pid: child.pid!,
        output,
        ready: (probe) => waitFor(probe, { command, child, output, stopping: stopping.signal }),
        pause: () => signalGroup(child.pid!, 'SIGSTOP'),
        resume: () => signalGroup(child.pid!, 'SIGCONT'),
      }
    },
    async run(command) {
      const child = start(command, ['ignore', 'pipe', 'pipe'])
      const limitMs = command.limitMs ?? RUN_MS
      const timer = setTimeout(() => signalGroup(child.pid!, 'SIGKILL'), limitMs).unref()
      const [[code], output, complaint] = await Promise.all([once(child, 'close'), text(child.stdout!), text(child.stderr!)])
      clearTimeout(timer)
      stopping.signal.throwIfAborted()
      if (code === null) throw new Error(`${command.name} did not end within ${limitMs / 1000} seconds`)
      if (code !== 0) throw new Error(`${command.name} failed: ${complaint.trim() || `exit ${code}`}`)
      return output
    },
    async [Symbol.asyncDispose]() {
      await stop()
      forget()
    },
  }
}

/** Calls `stop` when this process is told to end, and `exit` when it ends; returns how to take that back. */
function onEnd(stop: () => void, exit: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  process.on('exit', exit)
  return () => {
    for (const signal of signals) process.off(signal, stop)
    process.off('exit', exit)
  }
}

interface Waiting {
  readonly command: Command
  readonly child: ChildProcess
  readonly output: () => string
  readonly stopping: AbortSignal
}

async function waitFor<Found>(probe: () => Found | undefined | Promise<Found | undefined>, service: Waiting): Promise<Found> {
  const { command, child, output, stopping } = service
  const limitMs = command.limitMs ?? READY_MS
  const deadline = Date.now() + limitMs
  const ended = () => child.exitCode !== null || child.signalCode !== null
  while (!ended() && Date.now() < deadline) {
    const found = await probe()
    if (found !== undefined) return found
    await delay(POLL_MS)
  }
  stopping.throwIfAborted()
  throw new Error(
    `${command.name} ${ended() ? 'ended' : `did not serve within ${limitMs / 1000} seconds`}; it printed:\n${output().slice(-2000)}`,
  )
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch {
    // It has ended already.
  }
}
