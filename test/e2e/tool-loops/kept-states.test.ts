// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import OpenAI from 'openai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { event } from '../../../core/testing/upstream/replies.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { startRedis } from '../../support/redis.ts'
import { describeWith } from '../../support/requirements.ts'
import { Cluster } from '../processes/cluster.ts'
import { LOOP_CLIENTS } from './clients.ts'

const TURNS = 3

interface Item {
  readonly type?: string
  readonly call_id?: string
  readonly encrypted_content?: string
  readonly [member: string]: unknown
}

/** What a model that takes tools by its Responses API only got and said. */
class StrictModel {
  /** The reasoning before each call, by its id. */
  readonly thoughts = new Map<string, Item>()
  /** The items of each request. */
  readonly heard: Item[][] = []
  readonly faults: string[] = []
  /** Whether it reasons. */
  thinks = true
  /** Whether it can still read what it has encrypted. */
  forgets = false

  serve(upstream: ScriptedUpstream): void {
    upstream.on((request) => {
      const { input, stream } = request.json() as { readonly input: Item[]; readonly stream?: boolean }
      this.heard.push(input)
      const fault = request.path.endsWith('/responses') ? this.#faultOf(input) : 'This model is only supported in v1/responses.'
      if (fault !== undefined) {
        this.faults.push(fault)
        return json({ error: { message: fault, type: 'invalid_request_error', param: 'input', code: null } }, { status: 400 })
      }
      const whole = this.#answer(input)
      if (stream !== true) return json(whole)
      const begun = { ...whole, status: 'in_progress', output: [] }
      const items = whole.output.flatMap((item, output_index) => [
        event({ type: 'response.output_item.added', output_index, item }, 'response.output_item.added'),
        event({ type: 'response.output_item.done', output_index, item }, 'response.output_item.done'),
      ])
      return sse([
        event({ type: 'response.created', response: begun }, 'response.created'),
        ...items,
        event({ type: 'response.completed', response: whole }, 'response.completed'),
      ])
    })
  }

  /** The reasoning in the last request, each with the call that follows it. */
  get recalled(): readonly (readonly [Item, string | undefined])[] {
    const items = this.heard.at(-1)!
    return items.flatMap((item, index) => (item.type === 'reasoning' ? [[item, items[index + 1]?.call_id] as const] : []))
  }

  /** What it should have got. */
  get expected(): readonly (readonly [Item, string | undefined])[] {
    return this.heard.at(-1)!.flatMap(({ type, call_id: id }) => {
      const thought = type === 'function_call' ? this.thoughts.get(id!) : undefined
      return thought === undefined ? [] : [[thought, id] as const]
    })
  }

  /** The vendor takes only what it has made, unchanged, and before its call. */
  #faultOf(input: readonly Item[]): string | undefined {
    for (const [index, item] of input.entries()) {
      if (item.type !== 'reasoning') continue
      const made = this.thoughts.get(String(input[index + 1]?.call_id))
      if (this.forgets || JSON.stringify(made) !== JSON.stringify(item)) return 'The encrypted content could not be verified.'
    }
    return undefined
  }

  #answer(input: readonly Item[]) {
    const results = input.filter(({ type }) => type === 'function_call_output').length
    const call_id = `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`
    const summary = [{ type: 'summary_text', text: `Step ${results}.` }]
    const thought = { type: 'reasoning', summary, encrypted_content: randomUUID().repeat(40) }
    const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.', annotations: [] }] }
    const call = { type: 'function_call', call_id, name: 'look', arguments: '{"at":1}' }
    const isOver = results >= TURNS
    if (this.thinks && !isOver) this.thoughts.set(call_id, thought)
    const said: Item[] = isOver
      ? [message]
      : [...(this.thinks ? [{ id: `rs_${call_id}`, status: 'completed', ...thought }] : []), call]
    const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 }
    return { id: `resp_${results}`, object: 'response', status: 'completed', error: null, output: said, usage }
  }
}

const TOOLS: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'look', parameters: {} } }]

/** A loop of tool calls by OpenAI's SDK, whose client writes each message again with OpenAI's members only. */
class Loop {
  readonly messages: OpenAI.ChatCompletionMessageParam[]
  readonly #model: string
  readonly #isStream: boolean

  constructor(model = 'openai/gpt-6-astra', isStream = false, question = 'Where is it?') {
    this.messages = [{ role: 'user', content: question }]
    this.#model = model
    this.#isStream = isStream
  }

  /** One call. Resolves to the text, if the loop is over. */
  async turn(sdk: OpenAI): Promise<string | undefined> {
    const asked = { model: this.#model, messages: this.messages, tools: TOOLS }
    const { choices } = this.#isStream
      ? await sdk.chat.completions.stream(asked).finalChatCompletion()
      : await sdk.chat.completions.create(asked)
    const { content, tool_calls: calls = [] } = choices[0]!.message
    if (calls.length === 0) return content ?? ''
    const plain = calls.map((call) =>
      call.type === 'function'
        ? { id: call.id, type: call.type, function: { name: call.function.name, arguments: call.function.arguments } }
        : call,
    )
    this.messages.push({ role: 'assistant', content, tool_calls: plain })
    for (const { id } of calls) this.messages.push({ role: 'tool', tool_call_id: id, content: 'Not there.' })
    return undefined
  }

  /** All calls. */
  async run(sdk: OpenAI): Promise<string> {
    for (;;) {
      const text = await this.turn(sdk)
      if (text !== undefined) return text
    }
  }
}

interface StartOptions {
  readonly redis?: string
  /** Fields of the namespace `openai`. */
  readonly namespace?: object
}

describe('The reasoning of a model that needs the Responses API, for a client of chat completions that keeps none', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let model: StrictModel

  async function start({ namespace = {}, ...options }: StartOptions = {}): Promise<void> {
    const config = (key: string) => ({ baseUrl: `${upstream.origin}/v1`, apiKey: `\${env:${key}}`, responses: true })
    gateway = await startTestGateway({
      ...options,
      env: { KEY: 'key-of-one', OTHER: 'key-of-the-other' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          openai: { provider: 'openai-compatible', breaker: false, ...namespace, config: config('KEY') },
          other: { provider: 'openai-compatible', breaker: false, config: config('OTHER') },
        },
      },
    })
  }

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    model = new StrictModel()
    model.serve(upstream)
  })
  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const rows = async () => (await gateway.store.db.selectFrom('kept_values').selectAll().execute()).length
  const uses = (result: string) => gateway.metric('umg_kept_value_uses_total', { space: 'call-states', result })

  for (const isStream of [false, true]) {
    it(`comes back unchanged in each of ${TURNS} turns, ${isStream ? 'streamed' : 'whole'}`, async () => {
      await start()
      expect(await new Loop('openai/gpt-6-astra', isStream).run(gateway.openai())).to.equal('Done.')
      expect(model.faults).to.deep.equal([])
      expect(model.recalled).to.have.length(TURNS).and.to.deep.equal(model.expected)
      expect([await rows(), await uses('kept'), await uses('found')]).to.deep.equal([3, 3, 1 + 2 + 3])
    })
  }

  it('comes back in a conversation that is read in a thread', async () => {
    await start()
    const loop = new Loop('openai/gpt-6-astra', true, 'Where is it? '.repeat(100_000))
    expect(await loop.run(gateway.openai())).to.equal('Done.')
    expect(model.faults).to.deep.equal([])
    expect(model.recalled).to.have.length(TURNS).and.to.deep.equal(model.expected)
  })

  it('is kept once only for a client that gives it back', async () => {
    await start()
    const messages: object[] = [{ role: 'user', content: 'Where is it?' }]
    for (let turn = 0; turn < TURNS; turn++) {
      const reply = await gateway.fetch('/v1/chat/completions', { json: { model: 'openai/gpt-6-astra', messages, tools: TOOLS } })
      const { choices } = (await reply.json()) as OpenAI.ChatCompletion
      const { message } = choices[0]!
      messages.push(message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'Not there.' })
    }
    expect(model.faults).to.deep.equal([])
    expect(model.recalled).to.have.length(TURNS - 1)
    expect(await rows()).to.equal(1)
  })

  for (const isStream of [false, true]) {
    it(`is neither kept nor sent back with keepReasoning: false, ${isStream ? 'streamed' : 'whole'}`, async () => {
      await start({ namespace: { keepReasoning: false } })
      expect(await new Loop('openai/gpt-6-astra', isStream).run(gateway.openai())).to.equal('Done.')
      expect(model.thoughts.size).to.equal(TURNS)
      expect(model.faults).to.deep.equal([])
      expect(model.recalled).to.deep.equal([])
      expect([await rows(), await uses('kept'), await uses('missing')]).to.deep.equal([0, 0, 0])
    })
  }

  it('is still sent back by a client that keeps it itself, with keepReasoning: false', async () => {
    await start({ namespace: { keepReasoning: false } })
    const messages: object[] = [{ role: 'user', content: 'Where is it?' }]
    const ask = async () => {
      const json = { model: 'openai/gpt-6-astra', messages, tools: TOOLS }
      return (await (await gateway.fetch('/v1/chat/completions', { json })).json()) as OpenAI.ChatCompletion
    }
    const { message } = (await ask()).choices[0]!
    messages.push(message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'Not there.' })
    await ask()
    expect(model.recalled).to.have.length(1).and.to.deep.equal(model.expected)
    expect(await rows()).to.equal(0)
  })

  it('costs nothing where a model does not reason', async () => {
    await start()
    model.thinks = false
    expect(await new Loop().run(gateway.openai())).to.equal('Done.')
    expect([await rows(), await uses('kept')]).to.deep.equal([0, 0])
  })

  it('is lost when it has expired, and the call still works', async () => {
    await start()
    const loop = new Loop()
    await loop.turn(gateway.openai())
    await gateway.store.db.updateTable('kept_values').set({ expires_at: 1 }).execute()
    expect(await loop.turn(gateway.openai())).to.equal(undefined)
    expect(model.recalled).to.deep.equal([])
    expect(await loop.run(gateway.openai())).to.equal('Done.')
    expect(model.recalled).to.have.length(TURNS - 1)
    expect(model.faults).to.deep.equal([])
  })

  it('is lost when the store fails, and the calls still work', async () => {
    await start()
    await gateway.store.db.schema.dropTable('kept_values').execute()
    expect(await new Loop().run(gateway.openai())).to.equal('Done.')
    expect(model.recalled).to.deep.equal([])
    await until(async () => (await uses('unavailable')) === 3 + 1 + 2 + 3)
  })

  it('is nothing to another account that sends the same ids', async () => {
    await start()
    const { id } = await createAccount(gateway.store, { name: 'Rival', models: ['*'], rateClass: null }, GATEWAY)
    const rival = await gateway.key({ account: id })
    const loop = new Loop()
    await loop.turn(gateway.openai())
    await loop.turn(gateway.openai(rival))
    expect(model.recalled).to.deep.equal([])
    await loop.turn(gateway.openai())
    expect(model.recalled).to.have.length(1)
    expect(model.faults).to.deep.equal([])
  })

  it('is nothing to another vendor, or another credential of the same one', async () => {
    await start()
    const loop = new Loop()
    await loop.turn(gateway.openai())
    const moved = new Loop('other/gpt-6-astra')
    moved.messages.splice(0, 1, ...loop.messages)
    await moved.turn(gateway.openai())
    expect(model.recalled).to.deep.equal([])
    expect(model.faults).to.deep.equal([])
  })

  it('is left out where the vendor no longer takes it, and the client does not notice', async () => {
    await start()
    const loop = new Loop()
    await loop.turn(gateway.openai())
    model.forgets = true
    expect(await loop.run(gateway.openai())).to.equal('Done.')
    expect(model.faults).to.have.length(TURNS)
    expect(model.recalled).to.deep.equal([])
  })

  for (const client of LOOP_CLIENTS.filter(({ path }) => path !== '/v1/responses')) {
    for (const keepReasoning of [true, false]) {
      it(`is left out where the vendor no longer takes it from a client of ${client.name} itself, with keepReasoning: ${keepReasoning}`, async () => {
        await start({ namespace: { keepReasoning } })
        const ask = async (body: object) => {
          const reply = await gateway.fetch(client.path, { json: { model: 'openai/gpt-6-astra', ...body } })
          const text = await reply.text()
          expect(reply.status, text).to.equal(200)
          return client.read(text, false)
        }
        const begun = client.begin('Where is it?')
        const called = await ask(begun)
        model.forgets = true
        await ask(client.next(begun, called, [{ id: client.calls(called)[0]!, output: 'Not there.' }]))
        expect(model.faults).to.have.length(1)
        expect(model.recalled).to.deep.equal([])
        expect(model.heard.at(-1)!.map(({ type }) => type)).to.include.members(['function_call', 'function_call_output'])
      })
    }
  }

  describeWith('redis', 'in Redis', () => {
    it('comes back, and is lost with the server, while calls go on', async () => {
      const redis = await startRedis()
      try {
        await start({ redis: redis.url })
        expect(await new Loop().run(gateway.openai())).to.equal('Done.')
        expect(model.recalled).to.have.length(TURNS).and.to.deep.equal(model.expected)
        expect(await rows()).to.equal(0)
        const loop = new Loop()
        await loop.turn(gateway.openai())
        await redis.kill()
        expect(await loop.run(gateway.openai())).to.equal('Done.')
        expect(model.recalled).to.deep.equal([])
        expect(model.faults).to.deep.equal([])
      } finally {
        await redis.stop()
      }
    })
  })
})

describe('The reasoning that a gateway of several processes keeps', () => {
  it('reaches the next proxy, also after control was killed', async () => {
    await using opened = new AsyncDisposableStack()
    const upstream = opened.adopt(await scriptedUpstream(), (each) => each.close())
    const model = new StrictModel()
    model.serve(upstream)
    const routes = `version: 1
chain: [{ plugin: auth }]
namespaces:
  openai:
    provider: openai-compatible
    testKeys: upstream
    config: { baseUrl: "${upstream.origin}/v1", apiKey: "\${env:KEY}", responses: true }
`
    const cluster = opened.adopt(await Cluster.start({ 'routes.yaml': routes }, { KEY: 'key-of-openai' }), (each) => each.stop())
    // Each call has a connection of its own: they reach both proxies in turn.
    const sdk = new OpenAI({
      baseURL: `${cluster.url}/v1`,
      apiKey: cluster.secret,
      maxRetries: 0,
      defaultHeaders: { connection: 'close' },
    })
    // The first ones may be late: the processes have just started.
    await until(async () => {
      await new Loop().run(sdk)
      return model.recalled.length === TURNS
    })
    for (let count = 0; count < 4; count++) {
      expect(await new Loop('openai/gpt-6-astra', count % 2 === 0).run(sdk)).to.equal('Done.')
      expect(model.recalled).to.have.length(TURNS).and.to.deep.equal(model.expected)
    }
    const kept = 'umg_kept_value_uses_total{space="call-states",result="kept"}'
    const before = (await cluster.metric(kept))!
    const loop = new Loop()
    await loop.turn(sdk)
    await cluster.crash('control')
    await cluster.whole()
    await until(async () => (await cluster.metric(kept)) === before + 1)
    await loop.turn(sdk)
    expect(model.recalled).to.have.length(1).and.to.deep.equal(model.expected)
    process.kill(cluster.pids.get('control')!, 'SIGKILL')
    expect(await loop.run(sdk)).to.equal('Done.')
    expect(model.faults).to.deep.equal([])
  })
})
