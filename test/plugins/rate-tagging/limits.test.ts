import { expect } from 'chai'
import { GatewayError, type Usage } from 'unified-model-gateway/plugin'
import { OWNER } from '../../support/fake-state.ts'
import { type Gateway, type GatewayOptions, standard, startGateway } from './gateway.ts'

const used = (prompt: number, completion: number): Usage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})

/** A body of so many bytes. */
const body = (bytes: number, members: object = {}): string => {
  const empty = JSON.stringify({ model: 'openai/gpt-x', ...members, messages: [{ role: 'user', content: '' }] })
  return empty.replace('""', JSON.stringify('x'.repeat(bytes - empty.length)))
}

describe('rate-tagging limits', () => {
  let gateway: Gateway | undefined

  afterEach(() => gateway?.close())

  async function start(config: unknown, options?: GatewayOptions): Promise<Gateway> {
    gateway = await startGateway(config, options)
    return gateway
  }

  describe('by requests', () => {
    it('allow as many calls as the class has, and report the remaining ones', async () => {
      const { call } = await start(standard({ requests: '2/h' }))
      expect((await call()).headers).to.include({ 'x-ratelimit-limit-requests': '2', 'x-ratelimit-remaining-requests': '1' })
      expect((await call()).headers).to.include({ 'x-ratelimit-limit-requests': '2', 'x-ratelimit-remaining-requests': '0' })
      expect((await call()).status).to.equal(429)
    })

    it('refuse with the message of OpenAI and the time to wait', async () => {
      const { call } = await start(standard({ requests: '1/min' }))
      await call()
      const { error, headers } = await call()
      expect(error).to.include({ type: 'requests', code: 'rate_limit_exceeded' })
      expect(error?.message).to.match(
        /^Rate limit reached for your key in class standard on requests per min: Limit 1, Used 1, Requested 1\. Please try again in (1m0s|\d+(\.\d+)?s)\.$/,
      )
      expect(Number(headers['retry-after'])).to.be.within(1, 60)
      expect(headers).to.include({ 'x-ratelimit-limit-requests': '1', 'x-ratelimit-remaining-requests': '0' })
      expect(headers['x-ratelimit-reset-requests']).to.match(/^(1m0s|\d+(\.\d+)?s)$/)
    })

    it('allow calls again after that time', async () => {
      const { call } = await start(standard({ requests: '1/s' }))
      await call()
      for (let reply = await call(); reply.status !== 200; reply = await call()) {
        expect(reply.headers['retry-after']).to.equal('1')
      }
    })

    it('do not read the body', async () => {
      const { call } = await start(standard({ requests: '1/h' }))
      const granted = await call()
      const refused = await call()
      expect([granted.state.reads, refused.state.reads]).to.deep.equal([0, 0])
    })

    it('count each key separately', async () => {
      const { call } = await start(standard({ requests: '1/h' }))
      await call()
      expect((await call({ state: { principal: { ...OWNER, keyId: 'key_2' } } })).status).to.equal(200)
      expect((await call()).status).to.equal(429)
    })

    it('count a failed call, and report it on its reply', async () => {
      const { call } = await start(standard({ requests: '1/h' }))
      const inner = () => {
        throw new GatewayError('upstream_error')
      }
      const failed = await call({ inner })
      await failed.state.settle({ kind: 'upstream_error' })
      expect(failed.status).to.equal(502)
      expect(failed.headers).to.include({ 'x-ratelimit-remaining-requests': '0' })
      expect((await call()).status).to.equal(429)
    })

    it('neither count nor refuse a list of models', async () => {
      const { call } = await start(standard({ requests: '1/h' }))
      await call()
      const { status, headers } = await call({ state: { endpoint: 'models' } })
      expect(status).to.equal(200)
      expect(headers).to.not.have.property('x-ratelimit-limit-requests')
    })

    it('ignore a call without a principal, which core refuses', async () => {
      const { call } = await start(standard({ requests: '1/h' }))
      const { status, headers } = await call({ state: { principal: undefined } })
      expect(status).to.equal(200)
      expect(headers).to.not.have.property('x-ratelimit-limit-requests')
    })
  })

  describe('by tokens', () => {
    it('reserve the prompt and the requested answer, and return unused tokens', async () => {
      const { call, counted } = await start(standard({ tokens: '10k/h', answerTokens: 0 }))
      const { state, headers } = await call({ state: { body: body(4000, { max_completion_tokens: 3000 }) } })
      expect(headers).to.include({ 'x-ratelimit-limit-tokens': '10000', 'x-ratelimit-remaining-tokens': '6000' })
      expect(headers).to.not.have.property('x-ratelimit-limit-requests')
      await state.settle({ usage: used(900, 100) })
      expect((await call({ state: { body: body(400) } })).headers).to.include({ 'x-ratelimit-remaining-tokens': '8900' })
      expect(counted).to.deep.equal([])
    })

    it('refuse with the message of OpenAI, which names the model', async () => {
      const { call } = await start(standard({ tokens: '1000/day', answerTokens: 0 }))
      await call({ state: { body: body(400, { max_tokens: 800 }) } })
      const { status, error, headers } = await call({ state: { body: body(800) } })
      expect(status).to.equal(429)
      expect(error).to.include({ type: 'tokens', code: 'rate_limit_exceeded' })
      expect(error?.message).to.include(
        'Rate limit reached for `openai/gpt-x` with your key in class standard on tokens per day: Limit 1000, Used 900, Requested 200. Please try again in',
      )
      expect(headers).to.include({ 'x-ratelimit-remaining-tokens': '100' })
      expect(headers).to.not.have.property('x-should-retry')
    })

    it('give no time to wait to a call that exceeds the whole limit', async () => {
      const { call } = await start(standard({ tokens: '1k/min', answerTokens: 0 }))
      const { status, error, headers } = await call({ state: { body: body(400, { max_tokens: 901 }) } })
      expect(status).to.equal(429)
      expect(error?.message).to.include(
        'Request too large for `openai/gpt-x` with your key in class standard on tokens per min: Limit 1000, Requested 1001.',
      )
      expect(headers).to.include({ 'x-should-retry': 'false' })
      expect(Number(headers['retry-after'])).to.be.at.least(1)
    })

    it('count the tokens of a large prompt before they refuse it: an image has few', async () => {
      const { call, counted } = await start(standard({ tokens: '1000/h', answerTokens: 0 }), { countTokens: async () => 300 })
      const { status, headers } = await call({ state: { body: body(100_000, { max_tokens: 100 }) } })
      expect(status).to.equal(200)
      expect(headers).to.include({ 'x-ratelimit-remaining-tokens': '600' })
      expect(counted).to.have.length(1)
    })

    it('do not count the prompt if the limit is spent', async () => {
      const { call, counted } = await start(standard({ tokens: '1000/h', answerTokens: 0 }))
      await call({ state: { body: body(400, { max_tokens: 900 }) } })
      expect((await call({ state: { body: body(100_000) } })).status).to.equal(429)
      expect(counted).to.deep.equal([])
    })

    it('charge nothing if no upstream accepted the call', async () => {
      const { call } = await start(standard({ tokens: '1000/h', answerTokens: 0 }))
      const { state } = await call({ state: { body: body(400, { max_tokens: 900 }) } })
      await state.settle({ kind: 'upstream_error', status: 502 })
      expect((await call({ state: { body: body(400) } })).headers).to.include({ 'x-ratelimit-remaining-tokens': '900' })
    })

    it('charge the counted prompt and the estimated answer if the upstream reported no usage', async () => {
      const { call } = await start(standard({ tokens: '1000/h', answerTokens: 0 }), { countTokens: async () => 70 })
      const { state } = await call({ state: { body: body(400, { max_tokens: 900 }) } })
      await state.settle({ kind: 'client_closed', usage: used(0, 30), usageEstimated: true })
      expect((await call({ state: { body: body(400) } })).headers).to.include({ 'x-ratelimit-remaining-tokens': '800' })
    })

    it('charge by bytes if the prompt cannot be counted', async () => {
      const countTokens = () => Promise.reject(new Error('no thread'))
      const { call, warnings } = await start(standard({ tokens: '1000/h', answerTokens: 0 }), { countTokens })
      const { state } = await call({ state: { body: body(400, { max_tokens: 900 }) } })
      await state.settle({ usage: used(0, 50), usageEstimated: true })
      expect((await call({ state: { body: body(400) } })).headers).to.include({ 'x-ratelimit-remaining-tokens': '750' })
      expect(warnings.join()).to.include('no thread')
    })

    it('charge nothing for a call whose body is refused', async () => {
      const { call } = await start(standard({ tokens: '1000/h', answerTokens: 0, requests: '1/h' }))
      expect((await call({ state: { body: new GatewayError('invalid_json') } })).status).to.equal(400)
      expect((await call({ state: { body: body(400) } })).headers).to.include({ 'x-ratelimit-remaining-tokens': '900' })
    })

    it('do not count the request if the tokens are refused', async () => {
      const { call } = await start(standard({ tokens: '1000/h', answerTokens: 0, requests: '2/h' }), {
        countTokens: async () => 1001,
      })
      expect((await call({ state: { body: body(8000) } })).error).to.include({ type: 'tokens' })
      const { headers } = await call({ state: { body: body(400) } })
      expect(headers).to.include({ 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-remaining-tokens': '900' })
    })
  })

  describe('by concurrent calls', () => {
    it('refuse a call above the limit, and allow one when another has ended', async () => {
      const { call } = await start(standard({ concurrent: 1 }))
      const first = await call()
      const second = await call()
      expect(second.status).to.equal(429)
      expect(second.error).to.include({ type: 'requests', code: 'rate_limit_exceeded' })
      expect(second.error?.message).to.include(
        'in class standard on concurrent requests: Limit 1, Used 1, Requested 1. Please try again in 1s.',
      )
      expect(second.headers).to.include({ 'retry-after': '1' })
      await second.state.settle({ kind: 'rate_limited' })
      expect((await call()).status).to.equal(429)
      await first.state.settle({ kind: 'client_closed' })
      expect((await call()).status).to.equal(200)
    })
  })

  describe('by class', () => {
    const config = {
      classes: { standard: { requests: '1/h' }, batch: { requests: '5k/day', tokens: '5M/day' }, free: {} },
      default: 'standard',
    }
    const ofClass = (rateClass?: string) => ({
      state: { principal: { ...OWNER, ...(rateClass !== undefined && { rateClass }) } },
    })

    it('are those of the class of the key, or of the default class', async () => {
      const { call } = await start(config)
      expect((await call(ofClass())).headers).to.include({ 'x-ratelimit-limit-requests': '1' })
      expect((await call(ofClass('batch'))).headers).to.include({
        'x-ratelimit-limit-requests': '5000',
        'x-ratelimit-limit-tokens': '5000000',
      })
    })

    it('do not exist for a class without limits', async () => {
      const { call } = await start(config)
      const { status, headers } = await call(ofClass('free'))
      expect(status).to.equal(200)
      expect(Object.keys(headers).join()).to.not.include('ratelimit')
    })

    for (const rateClass of ['gold', '__proto__', 'constructor']) {
      it(`refuse each call of a key with the undeclared class ${rateClass}`, async () => {
        const { call, warnings } = await start(config)
        const { status, error } = await call(ofClass(rateClass))
        await call(ofClass(rateClass))
        expect([status, error?.code]).to.deep.equal([403, 'request_refused'])
        expect(error?.message).to.include(`\`${rateClass}\``).and.include('operator')
        expect(warnings).to.have.length(1)
      })
    }
  })

  it('count refused calls', async () => {
    const { call, samples } = await start(standard({ requests: '1/h' }))
    await call()
    await call()
    expect(await samples('umg_rate_limited_total')).to.deep.equal([
      'umg_rate_limited_total{limit="standard",scope="key",dimension="requests"} 1',
    ])
  })

  describe('cannot have', () => {
    for (const rate of ['60', '60/fortnight', '0/min', '-1/min', '1.5/min', '60 / min', '60/Min', '10m/min', '1e3/s', 60]) {
      it(`the rate ${JSON.stringify(rate)}`, async () => {
        const error = await start(standard({ requests: rate })).catch((thrown: Error) => thrown)
        expect(error).to.be.an('error').with.property('message').that.includes('requests')
      })
    }

    it('a default class that is not declared', async () => {
      const error = await start({ classes: { standard: {} }, default: 'standrad' }).catch((thrown: Error) => thrown)
      expect(error)
        .to.be.an('error')
        .with.property('message')
        .that.matches(/^default is not .*standard/)
    })

    it('a class with an unknown field', async () => {
      const error = await start(standard({ request: '1/s' })).catch((thrown: Error) => thrown)
      expect(error).to.be.an('error')
    })
  })
})
