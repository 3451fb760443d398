import { fittedName } from '../../../core/protocol/tool-names.ts'
import { openaiReply, type Said } from '../../../core/testing/kit.ts'
import * as anthropic from '../../plugins/providers/anthropic/messages-api.ts'
import * as bedrock from '../../plugins/providers/bedrock/converse-reply.ts'
import * as cohere from '../../plugins/providers/cohere/chat-reply.ts'
import { event as cohereEvent } from '../../plugins/providers/cohere/support.ts'
import * as gemini from '../../plugins/providers/gemini/generate-content.ts'
import * as ollama from '../../plugins/providers/ollama/chat-api.ts'
import { BlockCounter, repeat } from '../../support/block-counter.ts'
import { VENDORS } from '../clients/vendors.ts'
import { type Path, type Reply, startVendors, type Vendors } from './doubled-fixture.ts'

const called = { name: 'tool_0', arguments: { city: 'Paris' } }
const CITY = JSON.stringify(called.arguments)

/** What grows in the replies of each vendor; `pieces`: the number of pieces of each text. */
const SAID: Readonly<Record<string, (count: number) => { readonly said: Said; readonly pieces?: number }>> = {
  'pieces of text': (n) => ({ said: { text: 'Hi'.repeat(n) }, pieces: n }),
  thoughts: (n) => ({ said: { reasoning: 'Hm'.repeat(n), text: 'Hi' }, pieces: n }),
  'tool calls': (n) => ({ said: { tools: repeat(n, () => called) } }),
  'parts of one tool call': (n) => ({ said: { tools: [{ name: 'tool_0', arguments: { text: 'Hi'.repeat(n) } }] }, pieces: n }),
}

const chunk = (choices: readonly object[]) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })
const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`
const completion = (choices: readonly object[]) => ({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices })

/** One whole message, which a stream sends in one event. */
const atOnce = (message: object, finish: string): Reply => ({
  whole: completion([{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }]),
  stream: [
    frame(chunk([{ index: 0, delta: message }])),
    frame(chunk([{ index: 0, delta: {}, finish_reason: finish }])),
    'data: [DONE]\n\n',
  ],
})

/** What only some vendors have more than one of. */
const OF_VENDORS: Readonly<Record<string, Readonly<Record<string, Growing>>>> = {
  'openai-compatible': {
    'tool calls in one event': (n) =>
      atOnce(
        {
          tool_calls: repeat(n, (i) => ({
            index: i,
            id: `call_${i}`,
            type: 'function',
            function: { name: 'tool_0', arguments: CITY },
          })),
        },
        'tool_calls',
      ),
    'tool calls at once': (n) => {
      const parts = repeat(n, (index) => ({
        index,
        id: `call_${index}`,
        type: 'function',
        function: { name: 'tool_0', arguments: '{' },
      }))
      const deltas = [...parts, ...parts.map(({ index }) => ({ index, function: { arguments: '}' } }))]
      const { whole, stream } = atOnce(
        { tool_calls: parts.map((part) => ({ ...part, function: { name: 'tool_0', arguments: '{}' } })) },
        'tool_calls',
      )
      return {
        whole,
        stream: [...deltas.map((delta) => frame(chunk([{ index: 0, delta: { tool_calls: [delta] } }]))), ...stream.slice(1)],
      }
    },
    'kept thoughts': (n) =>
      atOnce(
        {
          content: 'Hi',
          reasoning_details: repeat(n, (i) => ({ type: 'reasoning.text', text: 'Hm', signature: 's', index: i })),
        },
        'stop',
      ),
    sources: (n) =>
      atOnce(
        {
          content: 'Hi',
          annotations: repeat(n, (i) => ({
            type: 'url_citation',
            url_citation: { url: `https://example.com/${i}`, title: 'A page', start_index: 0, end_index: 2 },
          })),
        },
        'stop',
      ),
  },
  anthropic: {
    blocks: (n) => anthropic.message(repeat(n, () => anthropic.text('Hi'))),
    'thoughts between calls': (n) =>
      anthropic.message(
        repeat(n, (i) => [
          anthropic.thinking('c2ln', 'Hm'),
          anthropic.text('Hi'),
          anthropic.tool(`toolu_${i}`, 'tool_0', CITY),
        ]).flat(),
        { stop_reason: 'tool_use' },
      ),
  },
  gemini: {
    'parts of one event': (n) => {
      const { whole } = gemini.reply(repeat(n, () => ({ text: 'Hi' })))
      return { whole, stream: [gemini.event(whole)] }
    },
    'signed calls': (n) => gemini.reply(repeat(n, () => gemini.call('tool_0', { city: 'Paris' }, { thoughtSignature: 'c2ln' }))),
  },
  bedrock: {
    blocks: (n) => bedrock.reply(repeat(n, () => bedrock.text('Hi'))),
    'thoughts between calls': (n) =>
      bedrock.reply(
        repeat(n, (i) => [bedrock.reasoning('Hm'), bedrock.text('Hi'), bedrock.tool(`tooluse_${i}`, 'tool_0', CITY)]).flat(),
        'tool_use',
      ),
  },
  cohere: {
    blocks: (n) => cohere.reply(repeat(n, () => cohere.content('text', 'Hi'))),
    citations: (n) => {
      const citation = {
        start: 0,
        end: 2,
        text: 'Hi',
        sources: [{ type: 'document', id: 'doc:0', document: { title: 'A page' } }],
      }
      const { whole, stream } = cohere.reply([cohere.content('text', 'Hi')])
      const events = repeat(n, (index) =>
        cohereEvent({ type: 'citation-start', index, delta: { message: { citations: citation } } }),
      )
      return {
        whole: { ...whole, message: { ...whole.message, citations: repeat(n, () => citation) } },
        stream: [...stream.slice(0, -1), ...events, ...stream.slice(-1)],
      }
    },
  },
  ollama: {
    'tool calls in one line': (n) => {
      const tool_calls = repeat(n, (i) => ollama.call(i, 'tool_0', { city: 'Paris' }).tool_calls!).flat()
      return ollama.reply([{ tool_calls }])
    },
  },
}

const longName = (i: number): string => `mcp.server/tool_${i}`
const SCHEMA = { type: 'object', properties: {} }

/** Tools whose names not every vendor takes, in the request of an endpoint: the calls of a reply get back the client's. */
const LONG_NAMED: Readonly<Record<string, (name: string) => object>> = {
  '/v1/messages': (name) => ({ name, input_schema: SCHEMA }),
  '/v1/responses': (name) => ({ type: 'function', name, parameters: SCHEMA, strict: false }),
}

/** The vendors whose replies reach each endpoint: to chat completions each translation, to the others one, and what is passed on as it is. */
const REPLIES: Readonly<Record<Path, readonly string[]>> = {
  '/v1/chat/completions': ['openai-compatible', 'openai-by-responses', 'anthropic', 'gemini', 'bedrock', 'cohere', 'ollama'],
  '/v1/messages': ['openai-compatible', 'anthropic'],
  '/v1/responses': ['openai-compatible', 'openai', 'anthropic'],
}

describe('twice as much in a reply', () => {
  const blocks = new BlockCounter()
  let vendors: Vendors

  before(async () => {
    vendors = await startVendors()
    await blocks.start()
  })
  after(async () => {
    blocks.stop()
    await vendors?.stop()
  })

  for (const [path, names] of Object.entries(REPLIES) as [Path, readonly string[]][])
    for (const name of names)
      for (const [what, replyOf] of Object.entries(growingOf(name)))
        for (const stream of [false, true])
          it(`of ${what} in a ${stream ? 'stream' : 'whole reply'} of ${name} for ${path} costs twice as much`, () =>
            blocks.expectLinear((count) => vendors.ask(name, path, { stream }, (asked) => replyOf(count, asked))))

  for (const [path, toolOf] of Object.entries(LONG_NAMED) as [Path, (name: string) => object][])
    for (const stream of [false, true])
      it(`of shortened names of tools in a ${stream ? 'stream' : 'whole reply'} for ${path} costs twice as much`, () =>
        blocks.expectLinear((count) => {
          const tools = repeat(count, (i) => toolOf(longName(i)))
          const said = { tools: repeat(count, (i) => ({ ...called, name: fittedName(longName(i)) })) }
          return vendors.ask('openai-compatible', path, { stream, tools }, () => openaiReply(said))
        }))
})

/** A reply with so much of something to a request for a path. */
type Growing = (count: number, path: string) => Reply

function growingOf(name: string): Readonly<Record<string, Growing>> {
  const vendor = VENDORS.find((each) => each.name === name)!
  const said = Object.entries(SAID).map(([what, sayingOf]): [string, Growing] => [
    what,
    (count, path) => {
      const { said: words, pieces } = sayingOf(count)
      return vendor.reply(words, path, pieces)
    },
  ])
  return { ...Object.fromEntries(said), ...OF_VENDORS[name] }
}
