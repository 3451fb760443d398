import { expect } from 'chai'
import { type AttemptRecord, GatewayError, type Host } from 'unified-model-gateway/plugin'
import headerStamping from '../../../plugins/chain/header-stamping/index.ts'
import type { FakeStateOptions } from '../../support/fake-state.ts'
import { type LinkReply, type LinkServer, serveLink } from '../../support/link-server.ts'

const ATTEMPT: AttemptRecord = {
  namespace: 'openai',
  model: 'gpt-5.5',
  provider: 'openai-compatible',
  result: 'ok',
  start: 0,
  ms: 1,
}
const FAILED: AttemptRecord = { ...ATTEMPT, result: 'upstream_error' }
const SERVED: FakeStateOptions = {
  body: { model: 'acme/smart' },
  served: ATTEMPT,
  attempts: [FAILED, ATTEMPT],
  elapsed: () => ({ total: 1234.5, overhead: 0.62 }),
}
const readBody = (state: { call(): Promise<unknown> }) => state.call()
const host = {} as Host

describe('header-stamping', () => {
  let server: LinkServer | undefined

  afterEach(() => server?.close())

  async function reply(config: unknown, call: Parameters<LinkServer['call']>[0] = {}): Promise<LinkReply> {
    server = await serveLink(headerStamping, config, host)
    return server.call(call)
  }

  async function refusal(config: unknown): Promise<string> {
    return serveLink(headerStamping, config, host).then(
      () => expect.fail('was accepted'),
      (error: Error) => error.message,
    )
  }

  it('sets headers with the served model, the number of attempts and the times on every reply', async () => {
    const { headers } = await reply({}, { state: SERVED })
    expect(headers).to.include({
      'x-umg-namespace': 'openai',
      'x-umg-model': 'gpt-5.5',
      'x-umg-attempts': '2',
      'openai-processing-ms': '1235',
      'x-umg-overhead-ms': '0.6',
    })
  })

  it('sets the known ones of these headers on the reply of a failed call', async () => {
    const inner = () => {
      throw new GatewayError('upstream_error')
    }
    const { status, headers } = await reply({}, { state: { ...SERVED, served: undefined, attempts: [FAILED] }, inner })
    expect(status).to.equal(502)
    expect(headers).to.include({ 'x-umg-attempts': '1', 'openai-processing-ms': '1235' })
    expect(headers).to.not.have.any.keys('x-umg-namespace', 'x-umg-model')
  })

  it('sets no number of attempts if there was none', async () => {
    const { headers } = await reply({}, { state: { endpoint: 'models' } })
    expect(headers).to.have.property('openai-processing-ms')
    expect(headers).to.not.have.any.keys('x-umg-namespace', 'x-umg-model', 'x-umg-attempts')
  })

  it('sets the operator’s headers on the reply', async () => {
    const response = {
      'X-Asked': '{namespace}/{model}',
      'x-served-by': '{served_namespace}/{served_model}',
      'x-who': '{account}:{key} in {request_id}',
      'x-team': 'team {tag.team}',
      'x-static': 'a {{literal} brace',
    }
    const { headers } = await reply({ response }, { state: { ...SERVED, tags: { team: 'search' } }, inner: readBody })
    expect(headers).to.include({
      'x-asked': 'acme/smart',
      'x-served-by': 'openai/gpt-5.5',
      'x-who': 'acme:laptop in req_fake',
      'x-team': 'team search',
      'x-static': 'a {literal} brace',
    })
  })

  it('omits a header with an unknown value', async () => {
    const response = {
      'x-asked': '{namespace}/{model}',
      'x-served': '{served_model}',
      'x-team': '{tag.team}',
      'x-odd': '{tag.constructor}',
      'x-key': '{key}',
    }
    const { headers, state } = await reply({ response }, { state: { principal: undefined } })
    expect(headers).to.not.have.any.keys('x-asked', 'x-served', 'x-team', 'x-odd', 'x-key')
    expect(state.reads).to.equal(0)
  })

  it('sends the operator’s headers to upstreams', async () => {
    const upstream = { 'X-Team': '{tag.team}', 'x-model': '{model}', 'x-none': '{tag.none}' }
    const { state } = await reply({ upstream }, { state: { ...SERVED, tags: { team: 'search' } } })
    expect(state.upstreamHeaders).to.deep.equal({ 'x-team': 'search', 'x-model': 'smart' })
  })

  it('reads the body before the next link only if a header for upstreams contains the model', async () => {
    const { state } = await reply({ upstream: { 'x-key': '{key}' }, response: { 'x-model': '{model}' } })
    expect(state.upstreamHeaders).to.deep.equal({ 'x-key': 'laptop' })
    expect(state.reads).to.equal(0)
  })

  it('does not read a body for the list of models', async () => {
    const { status, state } = await reply({ upstream: { 'x-model': '{model}' } }, { state: { endpoint: 'models' } })
    expect([status, state.reads]).to.deep.equal([200, 0])
  })

  it('refuses a call whose body is refused', async () => {
    const body = new GatewayError('invalid_json')
    const { status } = await reply({ upstream: { 'x-model': '{model}' } }, { state: { body } })
    expect(status).to.equal(400)
  })

  it('removes control characters from values', async () => {
    const tags = { bad: 'a\r\nset-cookie: b=c\u0000\u{1f642}ü', long: 'x'.repeat(5000), gone: '漢字' }
    const response = { 'x-bad': '{tag.bad}', 'x-long': '{tag.long}', 'x-gone': '{tag.gone}' }
    const upstream = { 'x-bad': '{tag.bad}' }
    const served = { ...ATTEMPT, model: 'modèle\r\n' }
    const { headers, state } = await reply({ response, upstream }, { state: { ...SERVED, served, tags }, inner: readBody })
    expect(headers).to.include({ 'x-bad': 'aset-cookie: b=c', 'x-umg-model': 'modle' })
    expect(headers['x-long']).to.have.length(256)
    expect(headers).to.not.have.any.keys('x-gone', 'set-cookie')
    expect(state.upstreamHeaders).to.deep.equal({ 'x-bad': 'aset-cookie: b=c' })
  })

  describe('refuses to start with', () => {
    const IN_REPLIES = ['Connection', 'keep-alive', 'proxy-authenticate', 'TE', 'trailer', 'transfer-encoding', 'Upgrade']
    const BODY = ['content-length', 'Content-Type', 'content-encoding']
    const OWN = ['x-request-id', 'openai-processing-ms', 'x-umg-model', 'set-cookie']
    for (const name of [...IN_REPLIES, ...BODY, ...OWN]) {
      it(`the header ${name} in a reply`, async () => {
        expect(await refusal({ response: { [name]: 'x' } }))
          .to.match(/^response\./)
          .and.include(`.${name} `)
      })
    }

    const SECRETS = ['Authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'api-key', 'x-goog-api-key']
    for (const name of [...SECRETS, 'host', 'expect', 'accept-encoding', 'x-request-id', 'content-type', 'connection']) {
      it(`the header ${name} for upstreams`, async () => {
        expect(await refusal({ upstream: { [name]: 'x' } }))
          .to.match(/^upstream\./)
          .and.include(`.${name} `)
      })
    }

    for (const name of ['', 'x team', 'x:y', 'x\r\ny', 'x_team', 'x-tëam', '-x']) {
      it(`the name ${JSON.stringify(name)}`, async () => {
        expect(await refusal({ response: { [name]: 'x' } })).to.include('not a header name')
      })
    }

    it('one header in two spellings', async () => {
      expect(await refusal({ response: { 'x-a': '1', 'X-A': '2' } })).to.include('response.X-A stands twice')
    })

    it('a line break in a template', async () => {
      expect(await refusal({ response: { 'x-a': 'a\r\nb: c' } }))
        .to.include('response.x-a')
        .and.include('printable')
    })

    it('an unknown place, and lists the known ones', async () => {
      expect(await refusal({ response: { 'x-a': '{modle}' } }))
        .to.include('response.x-a')
        .and.include('{modle}')
        .and.include('{model}')
    })

    it('a place of replies in a header for upstreams', async () => {
      expect(await refusal({ upstream: { 'x-a': '{served_model}' } })).to.include('{served_model}')
    })

    it('an unknown field', async () => {
      expect(await refusal({ respones: {} })).to.include('additional')
    })
  })
})
