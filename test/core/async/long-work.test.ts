import { mock } from 'node:test'
import { expect } from 'chai'
import { inSlices, yieldIfLong } from '../../../core/async/long-work.ts'

describe('Long work', () => {
  let now = 0
  const stopClock = () => mock.method(performance, 'now', () => now).mock
  let clock: ReturnType<typeof stopClock> | undefined

  beforeEach(() => {
    now = Math.max(now, performance.now()) + 10
    clock = stopClock()
  })
  afterEach(() => clock?.restore())

  it('lets the event loop run after 10 ms, and not before', async () => {
    await yieldIfLong()
    let turned = false
    setImmediate(() => {
      turned = true
    })
    now += 9
    await yieldIfLong()
    expect(turned, 'after 9 ms').to.equal(false)
    now += 1
    await yieldIfLong()
    expect(turned, 'after 10 ms').to.equal(true)
  })

  it('of a generator runs in slices, and resolves to what it returns', async () => {
    await yieldIfLong()
    let turns = 0
    const turn = (): void => {
      turns++
      immediate = setImmediate(turn)
    }
    let immediate = setImmediate(turn)
    const steps = function* (): Generator<void, string> {
      for (let step = 0; step < 5; step++) {
        now += 10
        yield
      }
      return 'done'
    }
    expect(await inSlices(steps())).to.equal('done')
    clearImmediate(immediate)
    expect(turns).to.equal(5)
  })
})
