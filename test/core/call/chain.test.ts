import { once } from 'node:events'
import { expect } from 'chai'
import { Chain, type ChainLink, LinkGuard } from '../../../core/call/chain.ts'
import { CallLinks, type Endpoint, Exchange } from '../../../core/call/exchange.ts'
import { CLIENT_GONE } from '../../../core/dispatch/attempt.ts'
import { GatewayError } from '../../../core/errors.ts'
import { PluginFailure } from '../../../core/plugins/faults.ts'

const LEFT = { statusCode: 200, writableFinished: false }

/** Runs a chain of links around an endpoint that replies at once. */
class Course {
  readonly exchange = new Exchange()
  readonly ran = new EventTarget()
  served = 0

  constructor(check: unknown = 'no body') {
    const serve = async (): Promise<void> => {
      this.served++
      this.exchange.answer({ kind: 'whole', body: Buffer.from('{}') })
    }
    this.exchange.endpoint = { name: 'chat.completions', check, serve } as Endpoint
    this.exchange.links = new CallLinks(this.exchange)
  }

  run(handles: Readonly<Record<string, ChainLink['handle']>>, more: Partial<ChainLink> = {}): Promise<void> {
    const links = Object.entries(handles).map(([name, handle]) => ({
      name,
      handle,
      explain: undefined,
      isBuiltIn: true,
      when: undefined,
      ...more,
    }))
    const guard = new LinkGuard({ ran: (plugin) => this.ran.dispatchEvent(new Event(plugin)) }, 5)
    return new Chain(links, guard).run(this.exchange, { headers: {} } as never)
  }

  /** What has failed, and why. */
  get failures(): readonly unknown[] {
    return this.exchange.pluginFailures.map(({ plugin, cause }) => [plugin, (cause as { code?: string }).code ?? String(cause)])
  }
}

const never = new Promise<never>(() => undefined)

describe('the chain of a call', () => {
  it('runs no link with `when` for a client that has left while its body was read', async () => {
    const course = new Course({})
    const { exchange } = course
    const body = Promise.withResolvers<never>()
    exchange.call = () => body.promise
    let runs = 0
    const over = course.run({ one: () => void runs++ }, { when: { namespaces: ['up'] } })
    exchange.close(LEFT)
    body.resolve({ model: { namespace: 'up' } } as never)
    await over
    expect([runs, course.served]).to.deep.equal([0, 0])
  })

  it('limits and times a link that outlasts the one around it', async () => {
    const course = new Course()
    const recorded = once(course.ran, 'inner')
    await course.run({
      outer: (_, next) => {
        void next()
        throw new TypeError('oops')
      },
      inner: () => never,
    })
    await recorded
    expect(course.failures).to.deep.equal([
      ['outer', 'TypeError: oops'],
      ['inner', 'TOOK_TOO_LONG'],
    ])
  })

  it('fails with what ended it if that ends a link too, which has passed on the signal', async () => {
    const course = new Course()
    const { exchange } = course
    await course.run({
      one: async () => {
        exchange.end(new GatewayError('service_unavailable'))
        throw new DOMException('This operation was aborted', 'AbortError')
      },
    })
    expect([exchange.failure?.row, course.failures]).to.deep.equal(['service_unavailable', []])
  })

  it('takes the end of another call for the fault of the link that throws it', async () => {
    const course = new Course()
    await course.run({ one: () => Promise.reject(CLIENT_GONE) })
    expect(course.exchange.failure?.row).to.equal('plugin_error')
  })

  it('takes it for no fault if a link only returns once its client has left', async () => {
    const course = new Course()
    const { exchange } = course
    await course.run({
      one: async () => {
        exchange.close(LEFT)
        await null
      },
    })
    expect(course.failures).to.deep.equal([])
  })
})

describe('a plugin that fails after the last byte of its call', () => {
  const failureOf = (what: string) => new PluginFailure('late', 'background', new Error(what))

  it('is noted before the call is settled, and reported at once after that', async () => {
    const { exchange } = new Course()
    const reported: unknown[] = []
    exchange.close(LEFT)
    exchange.links!.lost(failureOf('lost'))
    exchange.fail(new GatewayError('plugin_error', { cause: failureOf('thrown') }))
    const by = { run: () => undefined, failedLate: (_: string, { cause }: PluginFailure) => void reported.push(String(cause)) }
    exchange.links!.settle(by, {} as never)
    exchange.links!.lost(failureOf('lost later'))
    exchange.fail(new GatewayError('plugin_error', { cause: failureOf('thrown later') }))
    expect(exchange.pluginFailures.map(({ cause }) => String(cause))).to.deep.equal(['Error: lost', 'Error: thrown'])
    expect(reported).to.deep.equal(['Error: lost later', 'Error: thrown later'])
  })
})
