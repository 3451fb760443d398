// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type OpenAI from 'openai'
import type { APIError } from 'openai'
import type { Response, ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { named, response } from './fixture.ts'

const down = json({ error: { message: 'down' } }, { status: 500 })

/** A response that an upstream keeps, and that goes on from another one. */
const kept = (id: string, previous: string | null = null) => ({ ...response('Hi'), id, previous_response_id: previous })

describe('What upstreams of /v1/responses keep', () => {
  let one: ScriptedUpstream
  let two: ScriptedUpstream
  let gateway: TestGateway
  let client: OpenAI

  /** Two upstreams with the API, one without it, and routes over them. */
  function start(key = 'k'): Promise<TestGateway> {
    const upstream = ({ origin }: ScriptedUpstream, more = {}) => ({
      provider: 'openai-compatible',
      breaker: false,
      keptObjects: 'allow',
      config: { baseUrl: `${origin}/v1`, apiKey: '${env:KEY}', ...more },
    })
    return startTestGateway({
      env: { KEY: key },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          one: upstream(one, { responses: true }),
          two: { ...upstream(two, { responses: true }), breaker: true },
          chat: upstream(one),
          acme: {
            models: {
              smart: { targets: [{ model: 'one/a' }], fallbacks: ['two/b', 'chat/c'] },
              alone: { targets: [{ model: 'chat/c' }], fallbacks: ['one/a', 'one/b'] },
            },
          },
        },
      },
    })
  }

  before(async () => {
    one = await scriptedUpstream()
    two = await scriptedUpstream()
    gateway = await start()
    client = gateway.openai().withOptions({ maxRetries: 0 })
  })
  after(async () => {
    await gateway?.stop()
    await one?.close()
    await two?.close()
  })

  type Asked = Partial<ResponseCreateParamsNonStreaming>
  const ask = (more: Asked = {}, by = client) => by.responses.create({ model: 'acme/smart', input: 'Hi', ...more })

  /** A response that the fallback made, because the first target was down. */
  async function fromTwo(id: string): Promise<Response> {
    one.reply(down)
    two.reply(json(kept(id)))
    return ask()
  }

  /** The error of a call, which reached no upstream. */
  async function refusal(call: () => Promise<unknown>): Promise<APIError> {
    const before = one.requests.length + two.requests.length
    const error = await call().then(
      () => expect.fail('it was answered'),
      (failure: unknown) => failure as APIError,
    )
    expect(one.requests.length + two.requests.length).to.equal(before)
    return error
  }

  const NOT_FOUND = { status: 400, code: 'previous_response_not_found', param: 'previous_response_id' }

  it('a conversation goes on at the upstream that made its response, and keeps its ids', async () => {
    const first = await fromTwo('resp_1')
    expect(first.id).to.match(/^resp_1\.umg\d+\.[\w-]{22}$/)
    const asked = two.reply(json(kept('resp_2', 'resp_1')))
    const second = await ask({ previous_response_id: first.id })
    expect((await asked).json()).to.deep.equal({ model: 'b', input: 'Hi', previous_response_id: 'resp_1' })
    expect([second.previous_response_id, second.output_text]).to.deep.equal([first.id, 'Hi'])
    const third = two.reply(json(kept('resp_3', 'resp_2')))
    await ask({ model: 'two/b', previous_response_id: second.id })
    expect((await third).json()).to.include({ previous_response_id: 'resp_2' })
  })

  it('the events of a stream have the same id as the whole response', async () => {
    const { id } = await fromTwo('resp_4')
    const events = [
      named('response.created', {
        sequence_number: 0,
        response: { ...kept('resp_5', 'resp_4'), status: 'in_progress', output: [] },
      }),
      named('response.output_item.added', { sequence_number: 1, item: { type: 'message', id: 'msg_up1', content: [] } }),
      named('response.output_text.delta', { sequence_number: 2, item_id: 'msg_up1', delta: 'say "resp_5"' }),
      named('response.completed', { sequence_number: 3, response: kept('resp_5', 'resp_4') }),
    ].join('')
    two.reply(sse([events]))
    const json = { model: 'acme/smart', input: 'Hi', previous_response_id: id, stream: true }
    const text = await (await gateway.fetch('/v1/responses', { json })).text()
    const own = /"id":"(resp_5\.umg[\w-]{22})"/.exec(text)?.[1]
    expect(own).to.be.a('string')
    const item = /"id":"(msg_up1\.umg[\w-]{22})"/.exec(text)?.[1]
    const sealed = { resp_5: own, resp_4: id, msg_up1: item }
    expect(text).to.equal(
      Object.entries(sealed).reduce((all, [known, seal]) => all.replaceAll(`"${known}"`, `"${seal}"`), events),
    )
  })

  it('no other target is tried if the upstream that made the response is down', async () => {
    const { id } = await fromTwo('resp_6')
    two.reply(down)
    two.reply(down)
    two.reply(down)
    const before = one.requests.length
    const error = await ask({ previous_response_id: id }).then(undefined, (failure: unknown) => failure)
    expect(error).to.include({ code: 'upstream_error' })
    expect(one.requests.length).to.equal(before)
  })

  it('while its breaker is open, the client is told to come back, not that the response does not exist', async () => {
    const { id } = await fromTwo('resp_7')
    const calls = Array.from({ length: 20 }, async () => {
      two.reply(down)
      return ask({ model: 'two/b' }).then(undefined, () => undefined)
    })
    await Promise.all(calls)
    const error = await refusal(() => ask({ previous_response_id: id }))
    expect(error).to.include({ status: 503, code: 'upstream_overloaded' })
    expect(error.message).to.include('The upstream has failed too often')
  })

  it('a response belongs to the account that it was made for', async () => {
    one.reply(json(kept('resp_8')))
    const { id } = await ask()
    const account = await createAccount(gateway.store, { name: 'Other', models: ['*'], rateClass: null }, GATEWAY)
    const other = gateway.openai(await gateway.key({ account: account.id })).withOptions({ maxRetries: 0 })
    expect(await refusal(() => ask({ previous_response_id: id }, other))).to.include(NOT_FOUND)
  })

  for (const [what, id] of [
    ['an id of an upstream itself', 'resp_8'],
    ['an id whose seal is not its own', 'resp_9.umgAAAAAAAAAAAAAAAAAAAAAA'],
  ] as const) {
    it(`${what} is refused before any upstream gets it`, async () => {
      const error = await refusal(() => ask({ model: 'one/a', previous_response_id: id }))
      expect(error).to.include(NOT_FOUND)
      expect(error.message).to.include(`'${id}'`)
    })
  }

  it('another gateway with the same upstreams and credentials goes on, and one with other credentials does not', async () => {
    one.reply(json(kept('resp_10')))
    const { id } = await ask()
    const same = await start()
    const others = await start('another-key')
    try {
      one.reply(json(kept('resp_11', 'resp_10')))
      const second = await ask({ previous_response_id: id }, same.openai())
      expect(second.previous_response_id).to.equal(id)
      const stranger = others.openai().withOptions({ maxRetries: 0 })
      expect(await refusal(() => ask({ previous_response_id: id }, stranger))).to.include(NOT_FOUND)
    } finally {
      await same.stop()
      await others.stop()
    }
  })

  it('a response that is not kept has the id of its upstream', async () => {
    one.reply(json(kept('resp_12')))
    expect((await ask({ store: false })).id).to.equal('resp_12')
  })

  for (const [param, more] of [
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
  ] as const) {
    it(`a stored ${param} reaches the only upstream that can have it; of several the client must name one`, async () => {
      const asked = one.reply(json(kept('resp_13')))
      await ask({ model: 'acme/alone', ...more })
      expect((await asked).json()).to.deep.include(more)
      const error = await refusal(() => ask(more))
      expect(error).to.include({ status: 400, code: 'unsupported_parameter', param })
      expect(error.message).to.include('one/a or two/b')
    })
  }
})
