import { setTimeout as delay } from 'node:timers/promises'
import type { Urls } from '../control/services.ts'
import type { CertificateWatch } from '../http/certificate.ts'
import { type Listen, reachable } from '../http/listen.ts'
import type { Log } from '../observe/log.ts'
import { newInstance } from '../telemetry/instance.ts'
import type { DrainTimes } from './gateway.ts'
import { Handover } from './handover.ts'
import { RunFolder } from './run-folder.ts'
import type { Report, Role } from './supervised.ts'
import { type ProcessEnd, SupervisedProcess } from './supervised-process.ts'

/** The options of a supervisor. */
export interface SupervisorOptions {
  /** The number of proxies. */
  readonly workers: number
  readonly listen: Listen
  readonly adminListen?: Listen
  /** Closed by the supervisor. Absent: clients connect without TLS. */
  readonly certificate?: CertificateWatch | undefined
  readonly log: Log
  /** The version that is installed now: the package may be upgraded while the gateway runs. */
  readonly installedVersion: () => string
}

/** What control shows at the first start. */
export type Welcome = Omit<Report & { readonly type: 'welcome' }, 'type'>

/** How often processes are checked, in milliseconds. */
const CHECK_MS = 1_000
/** A process that ends sooner after its start than this is replaced after a pause, which doubles each time. Milliseconds. */
const STABLE_MS = 5_000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 30_000
/** How long processes may take to end after their grace time, in milliseconds. */
const END_MS = 5_000

/** A process could not start. It has printed the reason, or the log has it. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed'
  /** The exit code. */
  readonly code: number

  constructor(code: number) {
    super('a process of the gateway could not start')
    this.code = code
  }
}

/**
 * Starts one control process and the proxies, and replaces those that end or hang. It owns the listening sockets. It runs no plugin, opens
 * no database and reads no request, so that there is little in it that could fail.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #folder = RunFolder.create()
  readonly #instance = newInstance()
  readonly #handover = new Handover()
  readonly #processes = new Set<SupervisedProcess>()
  /** Processes ready to serve. */
  readonly #serving = new Set<SupervisedProcess>()
  /** Processes that announced their shutdown. */
  readonly #leaving = new WeakSet<SupervisedProcess>()
  /** Processes of another version that were ordered to leave. */
  readonly #outdated = new WeakSet<SupervisedProcess>()
  /** How many processes of a place ended soon after their start, one after the other. */
  readonly #failures = new Map<string, number>()
  readonly #started = Promise.withResolvers<void>()
  readonly #welcome = Promise.withResolvers<Welcome>()
  readonly #checks: NodeJS.Timeout
  #urls: Urls = { clients: '', people: '' }
  /** What processes are started with from now on. */
  #version: string
  /** Since when, in monotonic milliseconds. */
  #versionSince = performance.now()
  #upgrading: Promise<void> | undefined
  /** Resolves when the next process serves, or the gateway stops. */
  #nextServing = Promise.withResolvers<void>()
  #checkedAt = performance.now()
  #count = 0
  #isStarted = false
  #isStopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#version = options.installedVersion()
    this.#checks = setInterval(() => this.#check(), CHECK_MS)
    // Handled where `start` awaits them, which may be later.
    for (const { promise } of [this.#started, this.#welcome]) promise.catch(() => undefined)
  }

  /** Resolves once all processes serve. Rejects with StartFailed, or with the error of the address to listen on. */
  async start(): Promise<{ readonly url: string; readonly welcome: Welcome }> {
    const { listen, adminListen, certificate, workers } = this.#options
    try {
      const scheme = certificate === undefined ? 'http' : 'https'
      const url = await this.#handover.listen('clients', listen, scheme)
      const people = adminListen === undefined ? url : await this.#handover.listen('operators', adminListen, scheme)
      this.#urls = { clients: reachable(url), people: reachable(people) }
      certificate?.follow((current) => this.#send('proxy', { type: 'certificate', certificate: current }))
      this.#startProcess('control', 0)
      for (let slot = 1; slot <= workers; slot++) this.#startProcess('proxy', slot)
      await this.#started.promise
      this.#send('control', { type: 'started' })
      const welcome = await this.#welcome.promise
      this.#isStarted = true
      this.#replaceOutdated()
      return { url, welcome }
    } catch (error) {
      await this.stop({ delay: 0, grace: 0 })
      throw error
    }
  }

  /** The ids of the running processes, by name. */
  get processes(): Readonly<Record<string, number | undefined>> {
    return Object.fromEntries(Array.from(this.#processes, ({ id, pid }) => [id, pid]))
  }

  /** Reloads routes.yaml, and the certificate; replaces the processes if another version was installed. */
  reload(): void {
    const { certificate, installedVersion, log } = this.#options
    certificate?.check()
    try {
      this.#upgrade(installedVersion())
    } catch (err) {
      // It may be just about to be installed.
      log.warn({ err }, 'the installed version cannot be read, keeping all processes')
    }
    // The successor of one that leaves compares the files when it starts.
    for (const control of this.#of('control')) if (!this.#outdated.has(control)) control.send({ type: 'reload' })
  }

  /** Drains all processes. Resolves when they have ended. It may be called again, with less time. */
  async stop({ delay: notice, grace }: DrainTimes): Promise<void> {
    this.#isStopping = true
    this.#nextServing.resolve()
    this.#failStart(1)
    for (const process of this.#of('proxy')) {
      if (this.#serving.has(process) || this.#leaving.has(process))
        process.send({ type: 'drain', times: { delay: notice, grace } })
      // It has no call, and reads no order before it serves, which may never be.
      else process.kill()
    }
    await delay(notice)
    this.#handover.close()
    await this.#untilEnded('proxy', grace + END_MS)
    for (const process of this.#of('control')) process.send({ type: 'drain', times: { delay: 0, grace } })
    await this.#untilEnded('control', END_MS)
    clearInterval(this.#checks)
    this.#options.certificate?.close()
    this.#folder.remove()
  }

  #startProcess(role: Role, slot: number, predecessors = 0): void {
    const name = role === 'control' ? role : `${role}-${slot}`
    const assignment = {
      role,
      process: `${name}.${++this.#count}`,
      instance: this.#instance,
      folder: this.#folder.path,
      urls: this.#urls,
      predecessors,
    }
    const listener = {
      onReport: (process: SupervisedProcess, report: Report) => this.#onReport(process, report),
      onEnd: (process: SupervisedProcess, end: ProcessEnd) => this.#onEnd(process, end),
    }
    const process = new SupervisedProcess(assignment, slot, listener)
    this.#processes.add(process)
    const { certificate, log } = this.#options
    if (role === 'proxy' && certificate !== undefined) process.send({ type: 'certificate', certificate: certificate.current })
    if (predecessors === 0 || process.pid === undefined) return
    log.info({ process: process.id, pid: process.pid }, 'process started')
    this.#send('control', { type: 'replaced', role })
  }

  #onReport(process: SupervisedProcess, report: Report): void {
    if (report.type === 'accepted') this.#handover.taken(report.id)
    else if (report.type === 'loaded') this.#onLoaded(process, report.version)
    else if (report.type === 'serving') this.#onServing(process)
    else if (report.type === 'welcome') this.#welcome.resolve(report)
    else if (report.type === 'leaving' || report.type === 'ended') this.#onLeaving(process)
  }

  #onLoaded(process: SupervisedProcess, version: string): void {
    // One that was started earlier may have loaded what was installed before.
    if (process.startedAt >= this.#versionSince) this.#upgrade(version)
  }

  #onServing(process: SupervisedProcess): void {
    this.#serving.add(process)
    const ms = Math.round(performance.now() - process.startedAt)
    if (this.#isStarted) this.#options.log.info({ process: process.id, pid: process.pid, ms }, 'process serves')
    if (process.role === 'proxy') this.#handover.add(process)
    if (this.#serving.size === this.#options.workers + 1) this.#started.resolve()
    this.#nextServing.resolve()
    this.#nextServing = Promise.withResolvers()
    this.#replaceOutdated()
  }

  #onLeaving(process: SupervisedProcess): void {
    // It says so again if it has an exception while it leaves.
    if (this.#leaving.has(process)) return
    this.#leaving.add(process)
    this.#handover.rest(process)
    if (!this.#isStopping) this.#replace(process)
  }

  /** Replaces all processes if this is another version than theirs. */
  #upgrade(version: string): void {
    if (version === this.#version || this.#isStopping) return
    this.#options.log.info({ from: this.#version, to: version }, 'another version was installed, replacing all processes')
    this.#version = version
    this.#versionSince = performance.now()
    this.#replaceOutdated()
  }

  /** Replaces the processes of another version than the last one. Without effect before all processes serve. */
  #replaceOutdated(): void {
    if (!this.#isStarted) return
    this.#upgrading ??= this.#replaceEach().finally(() => {
      this.#upgrading = undefined
    })
  }

  /** One after the other, control first: a proxy of the new version may ask for what the old one does not know. */
  async #replaceEach(): Promise<void> {
    for (;;) {
      const outdated = [...this.#of('control'), ...this.#of('proxy')].find((process) => this.#isOutdated(process))
      if (outdated === undefined || this.#isStopping) return
      this.#outdated.add(outdated)
      // Before the order: it has then accepted all of its connections when it says that it leaves.
      this.#handover.rest(outdated)
      outdated.send({ type: 'leave' })
      while (!this.#isStopping && !this.#hasSuccessor(outdated)) await this.#nextServing.promise
    }
  }

  #isOutdated(process: SupervisedProcess): boolean {
    return this.#serving.has(process) && process.version !== this.#version && !this.#outdated.has(process)
  }

  #hasSuccessor({ role, slot, id }: SupervisedProcess): boolean {
    return this.#serving.values().some((other) => other.role === role && other.slot === slot && other.id !== id)
  }

  #onEnd(process: SupervisedProcess, end: ProcessEnd): void {
    const { log } = this.#options
    this.#processes.delete(process)
    this.#handover.remove(process)
    if (this.#isStopping) return
    if ('error' in end) log.error({ process: process.id, err: end.error }, 'a process of the gateway could not be started')
    if (!this.#isStarted) {
      this.#failStart(('code' in end && end.code) || 1)
      return
    }
    const isExpected = 'code' in end && end.code === 0 && this.#outdated.has(process)
    if ('code' in end && !isExpected)
      log.error({ process: process.id, pid: process.pid, ...end }, 'a process of the gateway has ended')
    if (!this.#leaving.has(process)) this.#replace(process)
  }

  /** Rejects `start`. Without effect if it has resolved. */
  #failStart(code: number): void {
    for (const { reject } of [this.#started, this.#welcome]) reject(new StartFailed(code))
  }

  /** Starts the successor of a process that has ended, or that serves its last calls. */
  #replace(process: SupervisedProcess): void {
    this.#serving.delete(process)
    const { role, slot } = process
    const place = `${role}-${slot}`
    const failures = performance.now() - process.startedAt < STABLE_MS ? (this.#failures.get(place) ?? 0) + 1 : 0
    this.#failures.set(place, failures)
    const pause = failures < 2 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS)
    setTimeout(() => {
      if (this.#isStopping) return
      this.#startProcess(role, slot, process.predecessors + 1)
    }, pause).unref()
  }

  /** Ends processes that hang. */
  #check(): void {
    const now = performance.now()
    const wasSuspended = now - this.#checkedAt > 4 * CHECK_MS
    this.#checkedAt = now
    for (const process of this.#processes) {
      if (wasSuspended) process.forgive()
      else if (process.hangs) {
        this.#options.log.error({ process: process.id, pid: process.pid }, 'a process of the gateway does not answer, ending it')
        process.kill()
      }
    }
  }

  /** Waits until no process of a role runs; after `ms` milliseconds ends those that do. */
  async #untilEnded(role: Role, ms: number): Promise<void> {
    const processes = this.#of(role)
    const timer = setTimeout(() => {
      for (const process of processes) process.kill()
    }, ms)
    await Promise.all(processes.map(({ ended }) => ended))
    clearTimeout(timer)
  }

  #of(role: Role): readonly SupervisedProcess[] {
    return [...this.#processes].filter((process) => process.role === role)
  }

  /** Not to those that leave. */
  #send(role: Role, order: Parameters<SupervisedProcess['send']>[0]): void {
    for (const process of this.#of(role)) if (!this.#leaving.has(process)) process.send(order)
  }
}
