// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { type Profiler, Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { named, response } from '../responses/fixture.ts'

/**
 * Twice as much of anything in a call costs at most about twice as much. Blocks of code are counted, not time: that is the same on every
 * machine. Work within one call of a native function is not seen.
 */
const N = 100
/** Blocks that run less often are bound to a call, not to what it has. */
const OFTEN = 1500
const MOST = 2.4

const repeat = <Item>(count: number, item: (index: number) => Item): Item[] => Array.from({ length: count }, (_, i) => item(i))
const user = (content: unknown) => ({ role: 'user', content })

const toolOf = (i: number) => ({ name: `tool_${i}`, description: 'A tool', [SCHEMA]: SCHEMA_OF_TOOL })
const SCHEMA = 'parameters'
const SCHEMA_OF_TOOL = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const ANTHROPIC_CACHE = { cache_control: { type: 'ephemeral' } }

/** A growing request: its members, by how much of it there is. */
type Growing = (count: number) => object

const CHAT: Readonly<Record<string, Growing>> = {
  messages: (n) => ({
    messages: repeat(n, (i) => (i % 2 === 0 ? user('Hi') : { role: 'assistant', content: 'Yes' })).concat(user('Go')),
  }),
  'messages of one side': (n) => ({ messages: repeat(n, () => user('Hi')) }),
  parts: (n) => ({ messages: [user(repeat(n, (i) => ({ type: 'text', text: `Part ${i}` })))] }),
  addresses: (n) => ({
    messages: [user(repeat(n, (i) => ({ type: 'image_url', image_url: { url: `https://example.com/${i}.png` } })))],
  }),
  tools: (n) => ({ messages: [user('Hi')], tools: repeat(n, (i) => ({ type: 'function', function: toolOf(i) })) }),
  'tool calls of one turn': (n) => ({
    messages: [
      user('Hi'),
      { role: 'assistant', content: null, tool_calls: repeat(n, callOf) },
      ...repeat(n, (i) => ({ role: 'tool', tool_call_id: `call_${i}`, content: 'Sunny' })),
    ],
    tools: [{ type: 'function', function: toolOf(0) }],
  }),
  'turns with a tool call': (n) => ({
    messages: repeat(n, (i) => [
      user('Hi'),
      { role: 'assistant', content: null, tool_calls: [callOf(i)] },
      { role: 'tool', tool_call_id: `call_${i}`, content: 'Sunny' },
    ]).flat(),
    tools: [{ type: 'function', function: toolOf(0) }],
  }),
  'cache marks': (n) => ({ messages: [user(repeat(n, () => ({ type: 'text', text: 'Hi', ...ANTHROPIC_CACHE })))] }),
  'harmless members': (n) => ({ messages: [user('Hi')], logit_bias: Object.fromEntries(repeat(n, (i) => [String(i), 1])) }),
}

const callOf = (i: number) => ({ id: `call_${i}`, type: 'function', function: { name: 'tool_0', arguments: '{"city":"Paris"}' } })

const MESSAGES: Readonly<Record<string, Growing>> = {
  messages: CHAT.messages!,
  parts: CHAT.parts!,
  'cache marks': CHAT['cache marks']!,
  addresses: (n) => ({
    messages: [user(repeat(n, (i) => ({ type: 'image', source: { type: 'url', url: `https://example.com/${i}.png` } })))],
  }),
  tools: (n) => ({ messages: [user('Hi')], tools: repeat(n, (i) => ({ name: `tool_${i}`, input_schema: SCHEMA_OF_TOOL })) }),
  'tool calls of one turn': (n) => ({
    messages: [
      user('Hi'),
      {
        role: 'assistant',
        content: repeat(n, (i) => ({ type: 'tool_use', id: `call_${i}`, name: 'tool_0', input: { city: 'Paris' } })),
      },
      user(repeat(n, (i) => ({ type: 'tool_result', tool_use_id: `call_${i}`, content: 'Sunny' }))),
    ],
    tools: [{ name: 'tool_0', input_schema: SCHEMA_OF_TOOL }],
  }),
}

const RESPONSES: Readonly<Record<string, Growing>> = {
  messages: (n) => ({ input: repeat(n, () => user('Hi')) }),
  parts: (n) => ({ input: [user(repeat(n, (i) => ({ type: 'input_text', text: `Part ${i}` })))] }),
  addresses: (n) => ({ input: [user(repeat(n, (i) => ({ type: 'input_image', image_url: `https://example.com/${i}.png` })))] }),
  tools: (n) => ({ input: 'Hi', tools: repeat(n, (i) => ({ type: 'function', ...toolOf(i), strict: false })) }),
  'tool calls': (n) => ({
    input: [
      user('Hi'),
      ...repeat(n, (i) => ({ type: 'function_call', call_id: `call_${i}`, name: 'tool_0', arguments: '{"city":"Paris"}' })),
      ...repeat(n, (i) => ({ type: 'function_call_output', call_id: `call_${i}`, output: 'Sunny' })),
    ],
    tools: [{ type: 'function', ...toolOf(0), strict: false }],
  }),
  'ids of items': (n) => ({
    input: repeat(n, (i) => ({ type: 'message', id: `msg_${i}`, role: 'user', content: [{ type: 'input_text', text: 'Hi' }] })),
  }),
  'models of tools': (n) => ({ input: 'Hi', tools: repeat(n, () => ({ type: 'image_generation', model: 'm' })) }),
  'files in a tool': (n) => ({ input: 'Hi', tools: [{ type: 'file_search', vector_store_ids: repeat(n, (i) => `vs_${i}`) }] }),
  'files in parts': (n) => ({ input: [user(repeat(n, (i) => ({ type: 'input_image', file_id: `file_${i}` })))] }),
}

const CLAUDE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}
const completion = (message: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', ...message }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

/** Protocols, with what grows in their requests, and the least of a request. */
const PROTOCOLS = {
  '/v1/chat/completions': { requests: CHAT, base: {}, least: { messages: [user('Hi')] } },
  '/v1/messages': { requests: MESSAGES, base: { max_tokens: 9 }, least: { messages: [user('Hi')] } },
  '/v1/responses': { requests: RESPONSES, base: { store: false }, least: { input: 'Hi' } },
} as const
type Path = keyof typeof PROTOCOLS

const chunk = (delta: object) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta }],
})
const frame = (event: object) => `data: ${JSON.stringify(event)}\n\n`
const END = `${frame({ ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`
const partOf = (i: number) => ({ index: i, id: `call_${i}`, type: 'function', function: { name: 'tool_0', arguments: '{}' } })

/** What grows in the streams of an upstream that speaks chat completions. */
const CHUNKS: Readonly<Record<string, (count: number) => string>> = {
  events: (n) => repeat(n, () => frame(chunk({ content: 'Hi' }))).join(''),
  thoughts: (n) => repeat(n, () => frame(chunk({ reasoning_content: 'Hm' }))).join(''),
  'tool calls': (n) => repeat(n, (i) => frame(chunk({ tool_calls: [partOf(i)] }))).join(''),
  'parts of one tool call': (n) =>
    frame(chunk({ tool_calls: [partOf(0)] })) +
    repeat(n, () => frame(chunk({ tool_calls: [{ index: 0, function: { arguments: ' ' } }] }))).join(''),
  'tool calls in one event': (n) => frame(chunk({ tool_calls: repeat(n, partOf) })),
}

/** The same of one that speaks Messages. */
const claudeStream = (events: readonly object[]): string =>
  [
    { type: 'message_start', message: { ...CLAUDE, content: [], stop_reason: null } },
    ...events,
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
    .map((event) => named((event as { type: string }).type, event))
    .join('')
const block = (index: number, content: object, deltas: readonly object[]) => [
  { type: 'content_block_start', index, content_block: content },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const CLAUDE_STREAMS: Readonly<Record<string, (count: number) => string>> = {
  events: (n) =>
    claudeStream(
      block(
        0,
        { type: 'text', text: '' },
        repeat(n, () => ({ type: 'text_delta', text: 'Hi' })),
      ),
    ),
  blocks: (n) =>
    claudeStream(repeat(n, (i) => block(i, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Hi' }])).flat()),
  'tool calls': (n) =>
    claudeStream(
      repeat(n, (i) =>
        block(i, { type: 'tool_use', id: `call_${i}`, name: 'tool_0', input: {} }, [
          { type: 'input_json_delta', partial_json: '{}' },
        ]),
      ).flat(),
    ),
}

describe('twice as much in a call', () => {
  let open: ScriptedUpstream
  let claude: ScriptedUpstream
  let gateway: TestGateway
  const session = new Session()

  before(async () => {
    // Optimised code does not count the calls of functions that it has taken in.
    for (const compiler of ['turbofan', 'maglev']) setFlagsFromString(`--no-${compiler}`)
    open = await scriptedUpstream()
    claude = await scriptedUpstream()
    const config = { baseUrl: `${open.origin}/v1`, apiKey: '${env:KEY}' }
    const common = { breaker: false, keptObjects: 'allow' }
    gateway = await startTestGateway({
      env: { KEY: 'k' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          open: { ...common, provider: 'openai-compatible', config },
          native: { ...common, provider: 'openai-compatible', config: { ...config, responses: true } },
          claude: { ...common, provider: 'anthropic', config: { ...config, baseUrl: claude.origin } },
        },
      },
    })
    session.connect()
    await session.post('Profiler.enable')
  })
  after(async () => {
    session.disconnect()
    for (const compiler of ['turbofan', 'maglev']) setFlagsFromString(`--${compiler}`)
    await gateway?.stop()
    await open?.close()
    await claude?.close()
  })

  /** How often each block of the gateway ran in a call. */
  async function blocksOf(call: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    await call()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    return new Map(result.filter(({ url }) => OF_THE_GATEWAY.test(url)).flatMap(countsOf))
  }

  /** Expects a call to run no block more than twice as often with twice as much. The first call loads and compiles code. */
  async function expectLinear(call: (count: number) => Promise<void>): Promise<void> {
    await call(4)
    const once = await blocksOf(() => call(N))
    const twice = await blocksOf(() => call(2 * N))
    const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, each) => all + each, 0)
    expect(sum(once), 'blocks that ran').to.be.above(N)
    expect(sum(twice) / sum(once), 'of all blocks').to.be.below(MOST)
    const worse = [...twice].filter(([block, count]) => count > OFTEN && count > MOST * (once.get(block) ?? 0))
    expect(worse.map(([block, count]) => `${block}: ${once.get(block) ?? 0} -> ${count}`)).to.deep.equal([])
  }

  async function ask(path: Path, body: object): Promise<string> {
    const reply = await gateway.fetch(path, { json: { ...PROTOCOLS[path].base, ...body } })
    const text = await reply.text()
    expect([reply.status, reply.ok ? '' : text]).to.deep.equal([200, ''])
    return text
  }

  for (const [path, { requests }] of Object.entries(PROTOCOLS) as [Path, (typeof PROTOCOLS)[Path]][])
    for (const namespace of path === '/v1/responses' ? ['native', 'open', 'claude'] : ['open', 'claude'])
      for (const [what, members] of Object.entries(requests)) {
        // What an upstream has nothing for is refused.
        const isNative = namespace === 'native'
        if (!isNative && /^(?:models of tools|files in)/.test(what)) continue
        if (namespace === 'claude' && what === 'harmless members') continue
        it(`of ${what} in ${path} by ${namespace} costs twice as much`, () =>
          expectLinear(async (count) => {
            const upstream = namespace === 'claude' ? claude : open
            void upstream.reply(json(namespace === 'claude' ? CLAUDE : isNative ? response('Hi') : completion({})))
            await ask(path, { model: `${namespace}/m`, ...members(count) })
          }))
      }

  for (const path of Object.keys(PROTOCOLS) as Path[])
    for (const [namespace, streams] of [
      ['open', CHUNKS],
      ['claude', CLAUDE_STREAMS],
    ] as const)
      for (const [what, stream] of Object.entries(streams)) {
        it(`of ${what} in a stream of ${namespace} for ${path} costs twice as much`, () =>
          expectLinear(async (count) => {
            const upstream = namespace === 'claude' ? claude : open
            void upstream.reply(sse([stream(count) + (namespace === 'claude' ? '' : END)]))
            await ask(path, { model: `${namespace}/m`, stream: true, ...PROTOCOLS[path].least })
          }))
      }

  for (const path of Object.keys(PROTOCOLS) as Path[])
    it(`of tool calls in a whole reply for ${path} costs twice as much`, () =>
      expectLinear(async (count) => {
        void open.reply(json(completion({ content: null, tool_calls: repeat(count, callOf) })))
        await ask(path, { model: 'open/m', ...PROTOCOLS[path].least })
      }))

  it('of ids in one item costs twice as much', () =>
    expectLinear(async (count) => {
      void open.reply(json(response('Hi')))
      const ids = repeat(count, () => '"id":"msg_1"').join()
      const content = repeat(count, () => '{"type":"input_text","text":"Hi"}').join()
      const body = `{"model":"native/m","store":false,"input":[{"type":"message","role":"user",${ids},"content":[${content}]}]}`
      const headers = { 'content-type': 'application/json' }
      expect((await gateway.fetch('/v1/responses', { method: 'POST', headers, body })).status).to.equal(200)
    }))
})

const OF_THE_GATEWAY = /\/(?:core|plugins)\/(?!testing\/).*\.ts$/

const countsOf = ({ url, functions }: Profiler.ScriptCoverage): [block: string, count: number][] =>
  functions.flatMap(({ functionName, ranges }) =>
    ranges.map(({ startOffset, count }): [string, number] => [
      `${url.slice(url.search(OF_THE_GATEWAY) + 1)} ${functionName} @${startOffset}`,
      count,
    ]),
  )
