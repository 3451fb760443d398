import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import Koa from 'koa'
import { type CallState, GatewayError, type Host, type Principal } from 'unified-model-gateway/plugin'
import auth from '../../../plugins/chain/auth/index.ts'

const KEY = 'sk-live-7Fq2x0000000000000000000000000009aXk'
const OWNER: Principal = { keyId: 'key_1', name: 'laptop', kind: 'live', account: 'default', models: [['*']] }

interface Answer {
  readonly status: number
  readonly headers: string
  readonly body: { readonly principal?: Principal; readonly error?: Readonly<Record<string, unknown>> }
}

/** The plugin in front of a handler that replies with the principal. */
class Gateway {
  readonly failures: string[] = []
  readonly asked: string[] = []
  verify = async (secret: string): Promise<Principal | undefined> => (secret === KEY ? OWNER : undefined)
  #server: Server | undefined
  #port = 0

  async start(config: Parameters<typeof auth.create>[0]): Promise<void> {
    const counter = { add: (_: number, ...labels: string[]) => this.failures.push(labels.join()) }
    const verify = (secret: string) => {
      this.asked.push(secret)
      return this.verify(secret)
    }
    const host = { keys: { verify }, metrics: { counter: () => counter } } as unknown as Host
    const link = await auth.create(config, host)
    const app = new Koa<CallState>()
    app.use(async (ctx, next) => {
      await next().catch((error: unknown) => {
        if (!(error instanceof GatewayError)) throw error
        ctx.status = error.status
        ctx.set(error.headers)
        ctx.body = error.toJSON()
      })
    })
    app.use(link.handle)
    app.use((ctx) => {
      ctx.body = { principal: ctx.state.principal }
    })
    this.#server = app.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    this.#server?.close()
    if (this.#server !== undefined) await once(this.#server, 'close')
  }

  /** Sends these header lines, byte for byte in Latin-1, to a path. */
  async get(headers: readonly string[], target = '/v1/models'): Promise<Answer> {
    const socket = connect(this.#port, '127.0.0.1')
    const lines = [`GET ${target} HTTP/1.1`, 'host: gateway', 'connection: close', ...headers, '', '']
    socket.write(lines.join('\r\n'), 'latin1')
    const reply = await text(socket)
    const end = reply.indexOf('\r\n\r\n')
    return {
      status: Number(reply.slice(9, 12)),
      headers: reply.slice(0, end).toLowerCase(),
      body: JSON.parse(reply.slice(end + 4)),
    }
  }
}

describe('auth', () => {
  let gateway: Gateway

  beforeEach(async () => {
    gateway = new Gateway()
    await gateway.start({})
  })
  afterEach(() => gateway?.stop())

  for (const header of [
    `Authorization: Bearer ${KEY}`,
    `authorization: bearer ${KEY}`,
    `AUTHORIZATION: BEARER ${KEY}`,
    `authorization:  Bearer   ${KEY}  `,
    `authorization: Bearer ${KEY}\t`,
    `x-api-key: ${KEY}`,
    `X-Api-Key:  ${KEY} `,
  ]) {
    it(`identifies the owner of a key: ${JSON.stringify(header)}`, async () => {
      const { status, body } = await gateway.get([header])
      expect([status, body.principal]).to.deep.equal([200, OWNER])
      expect(gateway.failures).to.deep.equal([])
    })
  }

  it('refuses a call without a key, and the error says how to send one', async () => {
    const { status, headers, body } = await gateway.get([])
    expect(status).to.equal(401)
    expect(headers).to.include('www-authenticate: bearer')
    expect(body.error).to.include({ type: 'invalid_request_error', code: null, param: null })
    expect(body.error?.message).to.include("You didn't provide an API key")
    expect(gateway.failures).to.deep.equal(['missing'])
  })

  for (const [what, headers, target] of [
    ['the query', [], `/v1/models?api_key=${KEY}&access_token=${KEY}`],
    ['a cookie', [`cookie: authorization=Bearer ${KEY}`], '/v1/models'],
    ['a proxy-authorization header', [`proxy-authorization: Bearer ${KEY}`], '/v1/models'],
    ['an address of another host', [], `http://Bearer:${KEY}@gateway/v1/models`],
  ] satisfies [string, string[], string][]) {
    it(`does not read a key from ${what}`, async () => {
      const { status, body } = await gateway.get(headers, target)
      expect(status).to.equal(401)
      expect(body.error?.message).to.include("You didn't provide an API key")
      expect(gateway.asked).to.deep.equal([])
    })
  }

  for (const [what, ...headers] of [
    ['an empty header', 'authorization:'],
    ['a scheme without a key', 'authorization: Bearer'],
    ['a key without a scheme', `authorization: ${KEY}`],
    ['Basic authentication', 'authorization: Basic bGFwdG9wOmh1bnRlcjIteHl6'],
    ['another scheme', `authorization: Token ${KEY}`],
    ['a colon after the scheme', `authorization: Bearer:${KEY}`],
    ['a tab after the scheme', `authorization: Bearer\t${KEY}`],
    ['two keys', `authorization: Bearer ${KEY} ${KEY}`],
    ['a comma and another key', `authorization: Bearer ${KEY}, Bearer ${KEY}`],
    ['characters outside ASCII', `authorization: Bearer ${KEY}\u00e9`],
    ['a non-breaking space', `authorization: Bearer \u00a0${KEY}`],
    ['a good key twice', `authorization: Bearer ${KEY}`, `authorization: Bearer ${KEY}`],
    ['a good key and a bad one', `authorization: Bearer ${KEY}`, 'Authorization: Bearer sk-live-other'],
    ['a good key and an empty header', `authorization: Bearer ${KEY}`, 'authorization:'],
    ['an empty x-api-key header', 'x-api-key:'],
    ['two x-api-key headers', `x-api-key: ${KEY}`, `x-api-key: ${KEY}`],
    ['a key with a scheme in an x-api-key header', `x-api-key: Bearer ${KEY}`],
    ['a good key and an empty x-api-key header', `authorization: Bearer ${KEY}`, 'x-api-key:'],
    ['a good key in x-api-key and an empty header', 'authorization:', `x-api-key: ${KEY}`],
  ] satisfies [string, ...string[]][]) {
    it(`refuses ${what} without looking up the key or repeating it`, async () => {
      const { status, headers: reply, body } = await gateway.get(headers)
      expect(status).to.equal(401)
      expect(reply).to.include('www-authenticate: bearer')
      expect(body).to.deep.equal({
        error: {
          message: 'Incorrect API key provided: ***. You can create a key with `umg keys create`.',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_api_key',
        },
      })
      expect(gateway.asked).to.deep.equal([])
      expect(gateway.failures).to.deep.equal(['malformed'])
    })
  }

  for (const headers of [
    [`authorization: Bearer ${KEY}`, 'x-api-key: other'],
    ['X-Api-Key: other', `authorization: Bearer ${KEY}`],
  ])
    it(`refuses two different keys without looking one up or repeating it: ${headers[0]!.split(':')[0]} first`, async () => {
      const { status, body } = await gateway.get(headers)
      expect(status).to.equal(401)
      expect(body.error?.code).to.equal('two_api_keys')
      expect(JSON.stringify(body)).to.not.include(KEY).and.not.include('other"')
      expect(gateway.asked).to.deep.equal([])
      expect(gateway.failures).to.deep.equal(['conflicting'])
    })

  it('takes the same key in both headers for one', async () => {
    await gateway.get([`authorization: Bearer ${KEY}`, `x-api-key: ${KEY}`])
    expect(gateway.asked).to.deep.equal([KEY])
  })

  for (const [what, token, shown] of [
    ['a key', 'sk-proj-abcdefghijklmnopqrstuvwxyzwjh3', 'sk-pr***wjh3'],
    ['a key in quotes', `"${KEY}"`, '"sk-l***aXk"'],
    ['ten kilobytes', `sk-li${'x'.repeat(10_240)}wjh3`, 'sk-li***wjh3'],
    ['a short word', 'hunter2', '***'],
    ['a word of nineteen characters', 'correcthorsebattery', '***'],
    ['SQL', "'OR'1'='1';--", '***'],
  ] as const) {
    it(`refuses ${what} that is no known key, and shows it as ${shown}`, async () => {
      const { status, body } = await gateway.get([`authorization: Bearer ${token}`])
      expect(status).to.equal(401)
      expect(body.error).to.deep.equal({
        message: `Incorrect API key provided: ${shown}. You can create a key with \`umg keys create\`.`,
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      })
      expect(gateway.failures).to.deep.equal(['unknown'])
    })
  }

  it('does not refuse a key as wrong if the key store is unavailable', async () => {
    gateway.verify = async () => {
      throw new GatewayError('storage_unavailable', { headers: { 'retry-after': '1' } })
    }
    const { status, headers, body } = await gateway.get([`authorization: Bearer ${KEY}`])
    expect(status).to.equal(503)
    expect(headers).to.include('retry-after: 1')
    expect(body.error).to.include({ code: 'storage_unavailable' })
    expect(gateway.failures).to.deep.equal([])
  })

  describe('that accepts calls without a key', () => {
    beforeEach(async () => {
      await gateway.stop()
      await gateway.start({ anonymous: { models: ['sandbox/*'], class: 'visitors' } })
    })

    it('gives them the configured models and rate class', async () => {
      const { status, body } = await gateway.get([])
      expect(status).to.equal(200)
      expect(body.principal).to.deep.equal({
        keyId: 'anonymous',
        name: 'anonymous',
        kind: 'live',
        account: 'anonymous',
        models: [['sandbox/*']],
        rateClass: 'visitors',
      })
      expect(gateway.failures).to.deep.equal([])
    })

    it('identifies the owner of a key', async () => {
      expect((await gateway.get([`authorization: Bearer ${KEY}`])).body.principal).to.deep.equal(OWNER)
    })

    for (const header of ['authorization: Bearer sk-live-wrong', 'authorization: Basic dTpw', 'authorization:']) {
      it(`refuses a wrong key: "${header}"`, async () => {
        expect((await gateway.get([header])).body.error).to.include({ code: 'invalid_api_key' })
      })
    }
  })
})
