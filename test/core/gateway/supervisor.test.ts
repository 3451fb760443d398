import { EventEmitter, once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { SUPERVISED } from '../../../core/gateway/supervised.ts'
import { StartFailed, Supervisor } from '../../../core/gateway/supervisor.ts'
import type { Log } from '../../../core/observe/log.ts'

/** What the supervisor sees of a process of a gateway. It writes the options of its Node into a file with the name of its role. */
const PROGRAM = `import { writeFileSync } from 'node:fs'
const { role } = JSON.parse(process.env.${SUPERVISED})
writeFileSync(new URL(role, import.meta.url), process.env.NODE_OPTIONS ?? '')
if (process.env.UMG_NEVER_SERVES) await new Promise(() => setInterval(() => {}, 1000))
process.on('message', ({ type }) => {
  if (type === 'started') process.send({ type: 'welcome', notices: [], text: '' })
  if (type === 'drain') process.disconnect()
})
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
    process.argv = [execPath, program]
    log = new EventEmitter()
    const write = (fields: object, message: string) => log.emit(message, { at: performance.now(), ...fields })
    const listen = { host: '127.0.0.1', port: 0 }
    const installedVersion = (): string => '1.0.0'
    supervisor = new Supervisor({ workers: 1, listen, log: { info: write, error: write } as unknown as Log, installedVersion })
  })

  afterEach(async () => {
    heal()
    await supervisor?.stop({ delay: 0, grace: 0 })
    process.argv = argv
    await rm(folder, { recursive: true })
  })

  function heal(): void {
    process.execPath = execPath
    delete process.env.UMG_TOO_LARGE
    delete process.env.UMG_NEVER_SERVES
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
})
