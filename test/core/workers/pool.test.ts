import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { createWorkers, type Workers } from '../../../core/workers/pool.ts'
import { fakeCall } from '../../support/fake-call.ts'
import { loweredThreads } from '../../support/thread-priorities.ts'

const TASKS = `
import { defineCallFunction, GatewayError, Secret } from 'unified-model-gateway/plugin'

export const describe = defineCallFunction(import.meta.url, 'describe', ({ model }, byte: number) => ({ model: model.id, bytes: Buffer.alloc(3, byte) }))
export const refuse = defineCallFunction(import.meta.url, 'refuse', () => { throw new GatewayError('invalid_value', { param: 'x', values: { detail: 'no' } }) })
export const double = ({ number }: { number: number }): number => number * 2
export const hide = (text: string): string => String(new Secret(text))
export const die = (): never => process.exit(3)
export const fail = (): never => { throw new RangeError('out of range') }
export const wait = (gate: Int32Array): string => Atomics.wait(gate, 0, 0)
`

describe('the worker threads', () => {
  let workers: Workers
  let folder: string
  let tasks: URL

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-workers-'))
    tasks = pathToFileURL(join(folder, 'tasks.ts'))
    await writeFile(tasks, TASKS)
  })

  after(() => rm(folder, { recursive: true }))

  beforeEach(() => {
    workers = createWorkers({ threads: 1, overloaded: () => new GatewayError('workers_busy') })
  })

  afterEach(() => workers?.close())

  const run = (exportName: string, input?: unknown): Promise<unknown> => workers.run(tasks, exportName, input)

  const failure = (promise: Promise<unknown>): Promise<Error> =>
    promise.then(
      () => expect.fail('did not reject'),
      (error: Error) => error,
    )

  /** Blocks the only thread until `open` is called. */
  function block() {
    const lock = new Int32Array(new SharedArrayBuffer(4))
    const passed = run('wait', lock)
    function open(): Promise<unknown> {
      Atomics.store(lock, 0, 1)
      Atomics.notify(lock, 0)
      return passed
    }
    return { passed, open }
  }

  it('leave the processor to small calls while they work on large bodies', async function () {
    if (process.platform !== 'linux') this.skip()
    const before = await loweredThreads()
    await run('double', { number: 1 })
    expect(await loweredThreads()).to.equal(before)
    await workers.scan(Buffer.from('{}'), 'chat.completions')
    expect(await loweredThreads()).to.equal(before + 1)
  })

  it('run a function of a TypeScript file that lies outside the installation', async () => {
    expect(await run('double', { number: 21 })).to.equal(42)
  })

  it('let such a file import the public plugin API', async () => {
    expect(await run('hide', 'hunter2')).to.equal('[redacted]')
  })

  it('reject with the error of a function', async () => {
    expect(await failure(run('fail'))).to.include({ name: 'RangeError', message: 'out of range' })
  })

  it('name the file of a missing function', async () => {
    expect((await failure(run('nothing'))).message).to.include('tasks.ts')
    expect((await failure(workers.run(new URL('nowhere.ts', tasks), 'double', 1))).message).to.include('nowhere.ts')
  })

  it('count the tokens of a prompt, and leave its bytes unchanged', async () => {
    const call = fakeCall({ messages: [{ role: 'user', content: 'hello world' }] })
    const before = call.splice({})
    // 3 for the reply, 3 for the message, 1 for its role, 2 for its text.
    expect(await workers.countTokens(call)).to.equal(9)
    expect(call.splice({})).to.deep.equal(before)
  })

  it('fail only the task of a function that ends its thread', async () => {
    const dead = failure(run('die'))
    const others = [run('double', { number: 1 }), run('double', { number: 2 })]
    expect((await dead).message).to.include('exited')
    expect(await Promise.all(others)).to.deep.equal([2, 4])
  })

  it('refuse a task if too many wait, and then run others', async () => {
    const { open } = block()
    const settled = Promise.allSettled(Array.from({ length: 400 }, (_, number) => run('double', { number })))
    expect(workers.queueSize).to.be.within(1, 256)
    await open()
    const results = await settled
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).to.have.length.within(1, 399)
    expect(String(refused[0]?.reason)).to.include('busy')
    expect(await run('double', { number: 4 })).to.equal(8)
  })

  describe('for large bodies', () => {
    const large = () => fakeCall(`{"model":"test/m","messages":[{"role":"user","content":"Hi"}],"x":"${'x'.repeat(100_000)}"}`)
    const compute = (name: string) => workers.compute(large(), { module: tasks.href, name, run: () => undefined }, 7)

    it('call a function of the call, and take over the bytes of its result', async () => {
      expect(await compute('describe')).to.deep.equal({ model: 'test/m', bytes: new Uint8Array([7, 7, 7]) })
    })

    it('reject with an error for the client as it was thrown', async () => {
      const refused = await failure(compute('refuse'))
      expect(refused).to.be.an.instanceOf(GatewayError)
      expect(refused).to.include({ row: 'invalid_value', status: 400, param: 'x', message: "Invalid value for 'x': no." })
    })

    it('name a function that its module does not export', async () => {
      expect((await failure(compute('nobody'))).message).to.include('tasks.ts does not export nobody')
    })

    it('have a short queue, and refuse more', async () => {
      const scans = Array.from({ length: 20 }, () => workers.scan(large().splice({}), 'chat.completions'))
      const results = await Promise.allSettled(scans)
      expect(results.map(({ status }) => status)).to.deep.equal([...Array(17).fill('fulfilled'), ...Array(3).fill('rejected')])
      expect((results.at(-1) as PromiseRejectedResult).reason).to.include({ row: 'workers_busy', status: 503 })
      expect(await workers.scan(large().splice({}), 'chat.completions')).to.have.nested.property('scanned.parts', 2)
    })

    it('do not wait for other work', async () => {
      const { open } = block()
      expect(await workers.scan(large().splice({}), 'chat.completions')).to.have.nested.property('scanned.parts', 2)
      await open()
    })
  })

  it('end at once when they are closed, and reject running and waiting tasks', async () => {
    const { passed } = block()
    const waiting = run('double', { number: 1 })
    const both = Promise.all([failure(passed), failure(waiting)])
    await workers.close()
    await both
  })
})
