// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type { Said } from '../../../core/testing/kit.ts'
import { json } from '../../../core/testing/kit.ts'
import type { Rule, StrictVendor } from '../../support/strict-vendors.ts'
import { type Fixture, type ScriptedModel, startFixture } from '../clients/fixture.ts'
import { VENDORS, type Vendor } from '../clients/vendors.ts'

const CITY = {
  type: 'object',
  properties: { city: { type: 'string' }, people: { type: 'integer', minimum: 0 } },
  required: ['city', 'people'],
  additionalProperties: false,
}
const OSLO = { city: 'Oslo', people: 717_710 }
const WEATHER = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

/** Clients of each protocol: what they send, and how they read text, calls and the reason of the end. */
interface Client {
  readonly name: 'chat' | 'responses' | 'messages'
  readonly path: string
  body(schema: object, tools: boolean): object
  whole(reply: never): Heard
  /** The events of a stream, `[DONE]` excluded. */
  stream(events: readonly never[]): Heard
  readonly lost: string
}

interface Heard {
  readonly text: string
  readonly calls: readonly string[]
  readonly ended: unknown
}

type Choice = { message: { content: string | null; tool_calls?: { function: { name: string } }[] }; finish_reason: string }
type Chunk = {
  choices: { delta: { content?: string; tool_calls?: { function: { name?: string } }[] }; finish_reason: string | null }[]
}
type Item = { type: string; name?: string; content?: { text: string }[] }
type Block = { type: string; name?: string; text?: string }

const responded = ({ output, status }: { output: Item[]; status: string }): Heard => ({
  text: output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join(''),
  calls: output.flatMap(({ type, name = '' }) => (type === 'function_call' ? [name] : [])),
  ended: status,
})

const CLIENTS: readonly Client[] = [
  {
    name: 'chat',
    path: 'chat/completions',
    body: (schema, tools) => ({
      messages: [{ role: 'user', content: 'Where?' }],
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
      ...(tools && { tools: [{ type: 'function', function: { name: 'weather', parameters: WEATHER } }] }),
    }),
    whole({ choices: [choice] }: { choices: [Choice] }) {
      const { message, finish_reason: ended } = choice
      return { text: message.content ?? '', calls: (message.tool_calls ?? []).map((call) => call.function.name), ended }
    },
    stream(events: readonly Chunk[]) {
      const choices = events.flatMap(({ choices }) => choices)
      return {
        text: choices.map(({ delta }) => delta.content ?? '').join(''),
        calls: choices.flatMap(({ delta }) => (delta.tool_calls ?? []).flatMap((call) => call.function.name ?? [])),
        ended: choices.at(-1)!.finish_reason,
      }
    },
    lost: 'response_format.strict',
  },
  {
    name: 'responses',
    path: 'responses',
    body: (schema, tools) => ({
      input: 'Where?',
      text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
      ...(tools && { tools: [{ type: 'function', name: 'weather', parameters: WEATHER }] }),
    }),
    whole: responded as Client['whole'],
    stream: (events: readonly { type: string; response: never }[]) =>
      responded(events.find(({ type }) => type === 'response.completed')!.response),
    lost: 'text.format.strict',
  },
  {
    name: 'messages',
    path: 'messages',
    body: (schema, tools) => ({
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Where?' }],
      output_config: { format: { type: 'json_schema', schema } },
      ...(tools && { tools: [{ name: 'weather', input_schema: WEATHER }] }),
    }),
    whole: ({ content, stop_reason }: { content: Block[]; stop_reason: string }) => ({
      text: content.map(({ text = '' }) => text).join(''),
      calls: content.flatMap(({ type, name = '' }) => (type === 'tool_use' ? [name] : [])),
      ended: stop_reason,
    }),
    stream(events: readonly { type: string; delta?: { text?: string; stop_reason?: string }; content_block?: Block }[]) {
      return {
        text: events.map(({ delta }) => delta?.text ?? '').join(''),
        calls: events.flatMap(({ content_block: block }) => (block?.type === 'tool_use' ? [block.name!] : [])),
        ended: events.findLast(({ delta }) => delta?.stop_reason !== undefined)!.delta!.stop_reason,
      }
    },
    lost: 'output_config.format.strict',
  },
]

const DONE: readonly unknown[] = ['stop', 'completed', 'end_turn']
const CALLED: readonly unknown[] = ['tool_calls', 'completed', 'tool_use']

const vendor = (name: string): Vendor => VENDORS.find((one) => one.name === name)!

const refuses = (what: string, ...texts: readonly string[]): StrictVendor => {
  const rules: Rule[] = texts.map((text) => ({ what: text, refuses: (body) => JSON.stringify(body).includes(text) }))
  return { rules, refusal: () => json({ error: { message: what, type: 'invalid_request_error' } }, { status: 400 }) }
}

/** Models that do not follow a schema, before an upstream that refuses one. `beside`: only together with tools. */
const MODELS: readonly (Vendor & { readonly beside?: true })[] = [
  {
    ...vendor('anthropic'),
    model: 'claude-3-haiku-20240307',
    strict: refuses('output_config: Extra inputs are not permitted', '"output_config"'),
  },
  {
    ...vendor('vertex-claude'),
    model: 'claude-3-5-haiku@20241022',
    strict: refuses('output_config: Extra inputs are not permitted', '"output_config"'),
  },
  ...[
    'us.amazon.nova-pro-v1:0',
    'us.meta.llama4-scout-17b-instruct-v1:0',
    'us.anthropic.claude-3-7-sonnet-20250219-v1:0',
    'mistral.mistral-7b-instruct-v0:2',
  ].map((model) => ({
    ...vendor('bedrock'),
    name: model.split('.').at(-1)!.replace(/\W/g, '-'),
    model,
    strict: refuses('This model doesn’t support the outputConfig field', '"outputConfig"', '"output_config"'),
  })),
  {
    ...vendor('anthropic'),
    name: 'claude-5',
    model: 'claude-haiku-4-5',
    strict: refuses('additionalProperties must be false', '"output_config"'),
  },
  {
    ...vendor('gemini'),
    beside: true,
    strict: refuses('Function calling with a response mime type is unsupported', 'application/json'),
  },
  { ...vendor('cohere'), beside: true, strict: refuses('response_format is not supported with tools', '"response_format"') },
  { ...vendor('ollama'), beside: true },
  {
    ...vendor('openai-compatible'),
    name: 'deepseek',
    model: 'deepseek-v4-pro',
    config: (origin) => ({ preset: 'deepseek', baseUrl: `${origin}/v1`, apiKey: '${env:KEY}' }),
    strict: refuses('This response_format type is unavailable now', '"json_schema"', '"tool_choice"'),
  },
  {
    ...vendor('openai-compatible'),
    name: 'groq',
    model: 'llama-3.3-70b-versatile',
    config: (origin) => ({ preset: 'groq', baseUrl: `${origin}/v1`, apiKey: '${env:KEY}' }),
    strict: refuses('This model does not support response format `json_schema`.', '"response_format"'),
  },
  {
    ...vendor('azure-openai'),
    model: 'gpt-4-turbo',
    strict: refuses("'response_format' of type 'json_schema' is not supported with this model", '"json_schema"'),
  },
]

const named = (name: string): Vendor => MODELS.find((model) => model.name === name)!
const idOf = ({ name, model }: Vendor): string => `${name}/${model}`

/** Says the answer in the way that it is asked for. */
function answering(answer: object) {
  return (body: string): Said => {
    if (/"name":"answer"|\\"name\\":\\"answer\\"/.test(body)) {
      // Ollama's calls are the text.
      return body.includes('Call one of these functions')
        ? { text: JSON.stringify({ name: 'answer', arguments: answer }) }
        : { text: 'I will answer.', tools: [{ name: 'answer', arguments: answer as Record<string, unknown> }] }
    }
    expect(body).to.contain('JSON Schema')
    return { text: `Here it is:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`` }
  }
}

/** What a reply says until it ends, or breaks off. */
async function textOf(reply: Response): Promise<string> {
  let text = ''
  try {
    for await (const bytes of reply.body!) text += Buffer.from(bytes).toString()
  } catch {
    // An error within a stream also breaks the connection.
  }
  return text
}

describe('A JSON schema, with models that do not follow one', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture(MODELS, {
      acme: { models: { place: { targets: [{ model: idOf(named('anthropic')) }], fallbacks: [idOf(named('groq'))] } } },
    })
  })
  after(() => fixture?.stop())

  const modelOf = (vendor: Vendor): ScriptedModel => fixture.models.get(vendor)!

  const post = ({ path }: Client, model: string, body: object): Promise<Response> =>
    fetch(`${fixture.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body }),
    })

  async function hear(client: Client, model: string, body: object, stream: boolean): Promise<Heard & { dropped: string }> {
    const reply = await post(client, model, { ...body, stream })
    const text = await reply.text()
    expect(reply.status, text).to.equal(200)
    const events = () => [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as never)
    const heard = stream ? client.stream(events()) : client.whole(JSON.parse(text) as never)
    return { ...heard, dropped: reply.headers.get('x-umg-params-dropped') ?? '' }
  }

  const CHAT = CLIENTS[0]!

  it('fails over to the next target if the answer does not fit, and is no failure of the first', async () => {
    const [first, second] = [named('anthropic'), named('groq')]
    modelOf(first).answer(answering({ city: 'Oslo' }))
    modelOf(second).answer(answering(OSLO))
    for (let call = 0; call < 6; call++) {
      const { text } = await hear(CHAT, 'acme/place', CHAT.body(CITY, false), false)
      expect(JSON.parse(text)).to.deep.equal(OSLO)
    }
    expect(modelOf(first).asked).to.have.length(6)
  })

  it('is followed by a model whose own decoding would leave its maps empty', async () => {
    const model = named('claude-5')
    const counts = { type: 'object', properties: { counts: { type: 'object', additionalProperties: { type: 'integer' } } } }
    modelOf(model).answer(answering({ counts: { a: 1 } }))
    const { text } = await hear(CHAT, idOf(model), CHAT.body(counts, false), false)
    expect(JSON.parse(text)).to.deep.equal({ counts: { a: 1 } })
  })

  it('is left out and named if the client requires a tool', async () => {
    const model = named('anthropic')
    modelOf(model).answer(() => ({ tools: [{ name: 'weather', arguments: { city: 'Oslo' } }] }))
    const { calls, dropped } = await hear(CHAT, idOf(model), { ...CHAT.body(CITY, true), tool_choice: 'required' }, false)
    expect(calls).to.deep.equal(['weather'])
    expect(dropped).to.equal('response_format')
  })

  it('is not held against an answer that was cut at its limit', async () => {
    const model = named('groq')
    const cut = { name: 'answer', arguments: { city: 'Os' } }
    modelOf(model).answer(() => ({ tools: [cut], finish: 'length' }))
    const heard = await hear(CHAT, idOf(model), CHAT.body(CITY, false), true)
    expect(heard).to.include({ text: '{"city":"Os"}', ended: 'length' })
  })

  it('takes its tool another name if the client has one of that name', async () => {
    const model = named('groq')
    modelOf(model).answer(() => ({ tools: [{ name: 'answer', arguments: { city: 'Oslo' } }] }))
    const tools = [{ type: 'function', function: { name: 'answer', parameters: WEATHER } }]
    const { calls } = await hear(CHAT, idOf(model), { ...CHAT.body(CITY, false), tools }, false)
    expect(calls).to.deep.equal(['answer'])
    expect(modelOf(model).asked[0]!.body).to.contain('"answer_"')
  })

  for (const name of ['gemini', 'cohere', 'ollama'])
    for (const stream of [false, true])
      it(`json_object is asked for in words beside tools: ${name}${stream ? ', streamed' : ''}`, async () => {
        const model = named(name)
        modelOf(model).answer((body) => {
          expect(body)
            .to.contain('Answer with a single JSON object')
            .and.not.to.match(/json_object|"format":|application\/json/)
          return { text: `Here: ${JSON.stringify(OSLO)}.` }
        })
        const asked = { ...CHAT.body(CITY, true), response_format: { type: 'json_object' } }
        const heard = await hear(CHAT, idOf(model), asked, stream)
        expect(JSON.parse(heard.text)).to.deep.equal(OSLO)
        expect(heard).to.include({ ended: 'stop', dropped: '' })
      })

  for (const [index, client] of CLIENTS.entries())
    for (const model of MODELS.filter(({ name }) => name !== 'claude-5'))
      for (const stream of [false, true])
        describe(`${client.name}, ${model.name}${stream ? ', streamed' : ''}`, () => {
          const id = idOf(model)

          it('is answered by an object that fits', async () => {
            modelOf(model).answer(answering(OSLO))
            const heard = await hear(client, id, client.body(CITY, model.beside === true), stream)
            expect(JSON.parse(heard.text)).to.deep.equal(OSLO)
            expect(heard).to.include({ ended: DONE[index] })
            expect(heard.calls).to.deep.equal([])
            expect(heard.dropped.split(', ')).to.include(client.lost)
          })

          it('leaves the model the tools of the client', async () => {
            const called = { name: 'weather', arguments: { city: 'Oslo' } }
            modelOf(model).answer((body) =>
              body.includes('Call one of these functions') ? { text: JSON.stringify(called) } : { tools: [called] },
            )
            const heard = await hear(client, id, client.body(CITY, true), stream)
            expect(heard).to.deep.include({ text: '', calls: ['weather'], ended: CALLED[index] })
          })

          it('is an error if the answer does not fit', async () => {
            modelOf(model).answer(answering({ city: 'Oslo', people: 'many' }))
            const reply = await post(client, id, { ...client.body(CITY, model.beside === true), stream })
            const text = await textOf(reply)
            if (!stream) expect(reply.status, text).to.equal(502)
            expect(text).to.contain('does not fit the JSON schema')
            expect(text).not.to.match(/"(?:completed|end_turn)"|\[DONE\]/)
          })
        })
})
