import { EventEmitter, on, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { SUPERVISED } from '../../../core/gateway/supervised.ts'
import { StartFailed, Supervisor } from '../../../core/gateway/supervisor.ts'
import type { Log } from '../../../core/observe/log.ts'
import { until } from '../../support/poll.ts'

/**
 * What the supervisor sees of a process of a gateway. It writes the options of its Node into a file with the name of its role, and its orders
 * into one with its own. A proxy tells clients its name, obeys `leave` late, and says at SIGUSR2 that it leaves, as after an exception. Control exits
 * only when its successor has got an order.
 */
const PROGRAM = `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
const file = (name) => new URL(name, import.meta.url)
const { role, process: name } = JSON.parse(process.env.${SUPERVISED})
writeFileSync(file(role), process.env.NODE_OPTIONS ?? '')
if (process.env.UMG_NEVER_SERVES) await new Promise(() => setInterval(() => {}, 1000))
const version = readFileSync(file('version'), 'utf8')
if (process.env.UMG_LOADS_LATE) {
  appendFileSync(file(name), 'loads')
  while (!existsSync(file('go'))) await new Promise((resolve) => setTimeout(resolve, 10))
}
process.send({ type: 'loaded', version })
process.on('message', ({ type, id }, socket) => {
  appendFileSync(file(name), type + ' ')
  if (type === 'started') process.send({ type: 'welcome', notices: [], text: '' })
  if (type === 'drain') process.disconnect()
  if (type === 'connection') {
    process.send({ type: 'accepted', id })
    socket.end(name + ' ')
  }
  if (type === 'leave' && role === 'control') {
    process.send({ type: 'ended' })
    setInterval(() => existsSync(file('control.3')) && process.exit(), 10)
  } else if (type === 'leave') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    process.send({ type: 'leaving' })
  }
})
process.on('SIGUSR2', () => process.send({ type: 'leaving' }, () => process.exit(1)))
process.send({ type: 'serving' })
`

/** More than any system passes to a program. */
const TOO_LARGE = 'x'.repeat(4 << 20)

describe('the supervisor of processes', () => {
  const { argv, execPath } = process
  const nodeOptions = process.env.NODE_OPTIONS
  let folder: string
  let supervisor: Supervisor
  /** Emits the lines of the log by their messages. */
  let log: EventEmitter

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-supervisor-'))
    const program = join(folder, 'program.mjs')
    await writeFile(program, PROGRAM)
    await install('1.0.0')
    process.argv = [execPath, program]
    log = new EventEmitter()
    const write = (fields: object, message: string) => {
      for (const name of [message, 'line']) log.emit(name, { at: performance.now(), message, ...fields })
    }
    const listen = { host: '127.0.0.1', port: 0 }
    const installedVersion = (): string => readFileSync(join(folder, 'version'), 'utf8')
    supervisor = new Supervisor({ workers: 1, listen, log: { info: write, error: write } as unknown as Log, installedVersion })
  })

  afterEach(async () => {
    heal()
    await supervisor?.stop({ delay: 0, grace: 0 })
    process.argv = argv
    await rm(folder, { recursive: true })
  })

  function install(version: string): Promise<void> {
    return writeFile(join(folder, 'version'), version)
  }

  function heal(): void {
    process.execPath = execPath
    delete process.env.UMG_TOO_LARGE
    delete process.env.UMG_NEVER_SERVES
    delete process.env.UMG_LOADS_LATE
    if (nodeOptions === undefined) delete process.env.NODE_OPTIONS
    else process.env.NODE_OPTIONS = nodeOptions
  }

  function crashProxy(): void {
    process.kill(supervisor.processes['proxy-1.2']!, 'SIGKILL')
  }

  const failure = () => once(log, 'a process of the gateway could not be started')

  for (const [title, prevent] of [
    ['its program cannot be found', () => Object.assign(process, { execPath: join(folder, 'missing') })],
    ['the system refuses to run it', () => Object.assign(process.env, { UMG_TOO_LARGE: TOO_LARGE })],
  ] as const) {
    it(`does not start if ${title}, and logs why`, async () => {
      prevent()
      const failed = failure()
      expect(await supervisor.start().catch((error: unknown) => error)).to.be.instanceOf(StartFailed)
      expect((await failed)[0].err).to.be.instanceOf(Error)
    })

    it(`replaces a process as soon as it can again, if ${title} at first`, async () => {
      await supervisor.start()
      prevent()
      crashProxy()
      const [{ process: failed, err }] = await failure()
      expect(failed).to.equal('proxy-1.3')
      expect(err).to.be.instanceOf(Error)
      heal()
      const [{ process: id }] = await once(log, 'process serves')
      expect(Object.keys(supervisor.processes)).to.have.members(['control.1', id])
    })
  }

  it('does not wait for a successor that does not serve yet when it stops', async () => {
    await supervisor.start()
    process.env.UMG_NEVER_SERVES = 'yes'
    const started = once(log, 'process started')
    crashProxy()
    await started
    const before = performance.now()
    await supervisor.stop({ delay: 0, grace: 20_000 })
    expect(performance.now() - before).to.be.below(10_000)
  })

  it("limits the new space and the threads of V8 in proxies, and an operator's options of Node come after it", async () => {
    process.env.NODE_OPTIONS = '--max-semi-space-size=8'
    await supervisor.start()
    const optionsOf = (role: string) => readFile(join(folder, role), 'utf8')
    expect(await optionsOf('proxy')).to.equal('--max-semi-space-size=16 --v8-pool-size=1 --max-semi-space-size=8')
    expect(await optionsOf('control')).to.equal('--max-semi-space-size=8')
  })

  it('tries again after a longer pause each time, and ends although a successor cannot be started', async () => {
    await supervisor.start()
    process.execPath = join(folder, 'missing')
    crashProxy()
    const times: number[] = []
    while (times.length < 4) times.push((await failure())[0].at)
    // The first pauses are shorter on a machine on which the proxy had run for long.
    const [second = 0, third = 0, fourth = 0] = times.slice(1)
    expect(third - second).to.be.above(390)
    expect(fourth - third).to.be.above(790)
    await supervisor.stop({ delay: 0, grace: 0 })
    expect(supervisor.processes).to.deep.equal({})
  })

  describe('when another version was installed', () => {
    let url: URL
    let lines: AsyncIterator<readonly [{ readonly process: string; readonly message: string }]>

    beforeEach(async () => {
      url = new URL((await supervisor.start()).url)
      lines = on(log, 'line') as typeof lines
      await install('2.0.0')
    })

    /** Resolves when a process, such as `control.3 process serves`, has said so. */
    async function said(line: string): Promise<void> {
      for (;;) {
        const [{ process: id, message }] = (await lines.next()).value
        if (`${id} ${message}` === line) return
      }
    }

    const connection = () => text(connect(Number(url.port), url.hostname))

    it('hands a connection to one process only, although a proxy obeys late', async () => {
      supervisor.reload()
      await said('control.3 process serves')
      const served = await Promise.all(Array.from({ length: 4 }, connection))
      expect(served).to.deep.equal(Array.from({ length: 4 }, () => 'proxy-1.4 '))
    })

    it('starts one successor for a proxy that leaves, and then has an exception', async () => {
      supervisor.reload()
      await said('proxy-1.4 process serves')
      process.kill(supervisor.processes['proxy-1.2']!, 'SIGUSR2')
      await said('proxy-1.2 a process of the gateway has ended')
      expect(Object.keys(supervisor.processes)).to.have.members(['control.3', 'proxy-1.4'])
    })

    it("starts control's successor when the work of control has ended, while it still exits", async () => {
      supervisor.reload()
      await said('control.3 process serves')
    })

    it('tells only the successor of control to reload', async () => {
      supervisor.reload()
      await said('control.3 process serves')
      supervisor.reload()
      await said('proxy-1.4 process serves')
      expect(await readFile(join(folder, 'control.1'), 'utf8')).to.equal('started leave ')
      expect(await readFile(join(folder, 'control.3'), 'utf8')).to.contain('reload ')
    })

    it('goes by what was installed last, whatever a process has loaded that was started before', async () => {
      process.env.UMG_LOADS_LATE = 'yes'
      crashProxy()
      await said('proxy-1.3 process started')
      delete process.env.UMG_LOADS_LATE
      await until(async () => (await readFile(join(folder, 'proxy-1.3'), 'utf8').catch(() => '')) === 'loads')
      await install('3.0.0')
      supervisor.reload()
      await said('control.4 process serves')
      await writeFile(join(folder, 'go'), '')
      await said('proxy-1.5 process serves')
      expect(Object.keys(supervisor.processes)).to.include.members(['control.4', 'proxy-1.5'])
    })
  })
})
