// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { event, json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const SAID = ['It is ', 'cold in Ålesund', ', and dark.']
const URL = 'https://weather.example/alesund'
const SOURCE = {
  type: 'url_citation',
  url_citation: { start_index: 6, end_index: 21, title: 'Weather', url: URL },
}

/** What an upstream searches and says, in its own protocol. */
interface Searching {
  readonly namespace: string
  readonly model: string
  readonly tools: readonly object[]
  readonly whole: object
  readonly stream: readonly string[]
}

const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku-4-5' }
const COUNTS = { input_tokens: 10, output_tokens: 5 }
const CITATION = { type: 'web_search_result_location', cited_text: 'cold', encrypted_index: 'x', title: 'Weather', url: URL }
const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } }
const FOUND = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }

const BLOCKS = [
  SEARCH,
  FOUND,
  { type: 'text', text: SAID[0] },
  { type: 'text', text: SAID[1], citations: [CITATION] },
  { type: 'text', text: SAID[2] },
]
const block = (content: { readonly type: string; readonly text?: string | undefined }, index: number): readonly string[] => {
  const { text } = content
  const start = text === undefined ? content : { type: 'text', text: '' }
  return [
    event({ type: 'content_block_start', index, content_block: start }),
    ...(text === undefined ? [] : [event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })]),
    ...('citations' in content
      ? [event({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation: CITATION } })]
      : []),
    event({ type: 'content_block_stop', index }),
  ]
}

const GROUNDED = {
  groundingMetadata: {
    webSearchQueries: ['weather'],
    groundingChunks: [{ web: { uri: URL, title: 'Weather' } }],
    groundingSupports: [{ segment: { startIndex: 6, endIndex: 22, text: SAID[1] }, groundingChunkIndices: [0] }],
  },
}
const USED = { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 } }
const candidate = (text: string | undefined, more: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
})

const UPSTREAMS: readonly Searching[] = [
  {
    namespace: 'claude',
    model: 'claude-haiku-4-5',
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    whole: { ...HEAD, content: BLOCKS, stop_reason: 'end_turn', usage: COUNTS },
    stream: [
      event({ type: 'message_start', message: { ...HEAD, content: [], stop_reason: null, usage: COUNTS } }),
      ...BLOCKS.flatMap(block),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: COUNTS }),
      event({ type: 'message_stop' }),
    ],
  },
  {
    namespace: 'gemini',
    model: 'gemini-2.5-flash',
    tools: [{ googleSearch: {} }],
    whole: { ...candidate(SAID.join(''), { finishReason: 'STOP', ...GROUNDED }), ...USED },
    stream: [
      event(candidate(SAID[0])),
      event(candidate(SAID[1])),
      event({ ...candidate(SAID[2], { finishReason: 'STOP', ...GROUNDED }), ...USED }),
    ],
  },
]

describe('web_search_options of a chat completion', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const config = { baseUrl: upstream.origin, apiKey: '${env:KEY}' }
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          claude: { provider: 'anthropic', hostedTools: ['web_search'], config },
          gemini: { provider: 'gemini', hostedTools: ['web_search'], config },
          unlisted: { provider: 'anthropic', config },
          refusing: { provider: 'gemini', hostedTools: [], config },
        },
        prices: {
          models: {
            'claude/*': { input: 1, output: 1 },
            'gemini/*': { input: 1, output: 1 },
            'unlisted/*': { input: 1, output: 1 },
          },
        },
      },
      env: { KEY: 'key' },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const ask = (model: string, more: object = {}, key = gateway.liveKey) =>
    gateway.fetch('/v1/chat/completions', {
      key,
      json: { model, messages: [{ role: 'user', content: 'How is it?' }], max_tokens: 100, web_search_options: {}, ...more },
    })

  for (const { namespace, model, tools, whole, stream } of UPSTREAMS) {
    it(`${namespace} searches the web, and the answer has its sources, whole and streamed`, async () => {
      upstream.reply(json(whole))
      const reply = await ask(`${namespace}/${model}`)
      expect(reply.status).to.equal(200)
      const { choices } = (await reply.json()) as { choices: { message: { content: string; annotations: object[] } }[] }
      expect(choices[0]!.message.content).to.equal(SAID.join(''))
      expect(choices[0]!.message.annotations).to.deep.equal([SOURCE])
      expect(JSON.parse(String(upstream.requests.at(-1)!.body)).tools).to.deep.equal(tools)

      upstream.reply(sse(stream))
      const streamed = await (await ask(`${namespace}/${model}`, { stream: true })).text()
      const deltas = [...streamed.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data).choices[0]?.delta ?? {})
      expect(deltas.map(({ content = '' }) => content).join('')).to.equal(SAID.join(''))
      expect(deltas.flatMap(({ annotations = [] }) => annotations)).to.deep.equal([SOURCE])
    })

    it(`${namespace}: what it cannot be told of the search is named`, async () => {
      upstream.reply(json(whole))
      const location = { type: 'approximate', approximate: { city: 'Ålesund', country: 'NO' } }
      const options = { search_context_size: 'high', user_location: location }
      const reply = await ask(`${namespace}/${model}`, { web_search_options: options })
      const lost = reply.headers.get('x-umg-params-dropped')
      expect(lost).to.contain('web_search_options.search_context_size')
      const sent = String(upstream.requests.at(-1)!.body)
      expect(sent.includes('Ålesund')).to.equal(!lost!.includes('web_search_options.user_location'))
    })

    it(`${namespace} serves a caller with a budget, because the namespace lists the search`, async () => {
      upstream.reply(json(whole))
      expect((await ask(`${namespace}/${model}`, {}, await gateway.key({ budgets: ['5 USD/day'] }))).status).to.equal(200)
    })
  }

  it('is refused where the namespace does not allow it, to callers with a budget also where it lists nothing', async () => {
    const before = upstream.requests.length
    const budget = await gateway.key({ budgets: ['5 USD/day'] })
    for (const reply of [await ask('refusing/gemini-2.5-flash'), await ask('unlisted/claude-haiku-4-5', {}, budget)]) {
      expect(reply.status).to.equal(400)
      expect(await reply.text()).to.contain('`hostedTools` of the namespace')
    }
    expect(upstream.requests.length).to.equal(before)
  })

  it('is refused beside what the vendor does not take with it', async () => {
    const tool = { type: 'function', function: { name: 'web_search' } }
    for (const model of ['gemini/gemini-2.5-flash', 'claude/claude-haiku-4-5']) {
      const reply = await ask(model, { tools: [tool] })
      expect(reply.status).to.equal(400)
      expect(((await reply.json()) as { error: { param: string } }).error.param).to.equal('web_search_options')
    }
  })
})
