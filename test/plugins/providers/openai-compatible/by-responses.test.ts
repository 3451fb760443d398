import { expect } from 'chai'
import fc from 'fast-check'
import { toChat } from '../../../../core/protocol/responses/request.ts'
import type { ChatMessage, ChatRequest, ChatTool } from '../../../../core/sdk/api.ts'
import { toCompletion } from '../../../../plugins/providers/openai-compatible/by-responses/reply.ts'
import { RESPONSES_PARAMETERS, toResponsesRequest } from '../../../../plugins/providers/openai-compatible/by-responses/request.ts'
import { ResponseTranslator } from '../../../../plugins/providers/openai-compatible/by-responses/stream.ts'
import { anyRequest } from '../../../support/any-request.ts'

const words = fc.string({ minLength: 1, maxLength: 8 })

const IMAGE = { type: 'image_url', image_url: { url: 'https://pictures.example.com/a.png' } }
const FILE = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,YQ==' } }

/** What a conversation says, in its order: texts that follow each other may be one text or several, and instructions have two roles. */
function linesOf(messages: readonly ChatMessage[]): readonly string[] {
  const lines: string[] = []
  for (const [who, said] of messages.flatMap(saidIn)) {
    if (lines.at(-1)?.startsWith(`${who}: `)) lines.push(lines.pop()! + said)
    else lines.push(`${who}: ${said}`)
  }
  return lines
}

function saidIn({
  role,
  content,
  refusal,
  tool_calls: calls,
  tool_call_id: id,
}: ChatMessage): readonly (readonly [string, string])[] {
  const who = [role === 'developer' ? 'system' : role, id ?? ''].join(' ')
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? [])
  const said = parts.map((part) => (part.type === 'text' ? part.text.replaceAll('\n', '') : JSON.stringify(part)))
  const called = (calls ?? []).map((call) => `call ${call.id} ${call.function?.name} ${call.function?.arguments || '{}'}`)
  return [...said, ...(refusal ? [refusal] : []), ...called].filter((each) => each !== '').map((each) => [who, each] as const)
}

const isMedia = ({ type }: { readonly type: string }): boolean => type === 'image_url' || type === 'file'

/** Members of a request that anyRequest does not make. */
const MORE = {
  verbosity: fc.constantFrom('low', 'medium', 'high'),
  logprobs: fc.boolean(),
  top_logprobs: fc.integer({ min: 0, max: 20 }),
  user: words,
  service_tier: fc.constantFrom('flex', 'priority'),
  safety_identifier: words,
  prompt_cache_key: words,
  prompt_cache_retention: fc.constantFrom('24h', 'in_memory'),
  prompt_cache_options: fc.constantFrom({ mode: 'implicit' }, { mode: 'explicit', ttl: '30m' }),
  metadata: fc.dictionary(words, words, { maxKeys: 2 }),
  store: fc.boolean(),
  seed: fc.integer(),
  frequency_penalty: fc.double({ min: -2, max: 2, noNaN: true }),
}

/** What the reader of the way back declares as lost: see `MEMBERS` in core/protocol/responses/request.ts. */
const NOT_READ = ['metadata', 'store']

/** Below it the Responses API takes no cap. */
const LEAST_TOKENS = 16

/** What a request means, member by member, without those that are declared as lost. */
function meaningOf({ messages, tools, tool_choice: choice, ...members }: ChatRequest): Readonly<Record<string, unknown>> {
  const {
    max_tokens,
    max_completion_tokens,
    response_format: format,
    logprobs,
    top_logprobs,
    stream,
    parallel_tool_calls,
    ...rest
  } = members
  const cap = max_completion_tokens ?? max_tokens
  const said = Object.entries(rest).filter(
    ([name, value]) => RESPONSES_PARAMETERS[name]?.support === 'mapped' && !NOT_READ.includes(name) && value != null,
  )
  // A name stands for the first tool of it.
  const offered = (tools ?? []).map(functionOf)
  const named = offered.filter(({ name }, index) => offered.findIndex((tool) => tool.name === name) === index)
  return {
    ...Object.fromEntries(said),
    conversation: linesOf(messages),
    tools: named,
    choice:
      named.length > 0 && (typeof choice === 'object' && choice?.type === 'function' ? choice.function.name : (choice ?? 'auto')),
    // Without tools it says nothing.
    parallel: named.length > 0 && (parallel_tool_calls ?? true),
    cap: cap == null ? undefined : Math.max(cap, LEAST_TOKENS),
    format: format?.type === 'text' ? undefined : (format ?? undefined),
    logprobs: logprobs ? (top_logprobs ?? 'of what is said') : false,
    stream: stream ?? false,
  }
}

function functionOf(tool: ChatTool): { readonly name: string; readonly [member: string]: unknown } {
  const { name, description, strict = false, parameters } = (tool as Extract<ChatTool, { readonly type: 'function' }>).function
  return { name, description: description || undefined, strict, parameters: { type: 'object', properties: {}, ...parameters } }
}

describe('A chat completion as a request of the Responses API', () => {
  it('means the same to an upstream that reads it as a chat completion again, but for what is declared as lost', () => {
    const requests = anyRequest({ models: ['gpt-x'], parts: [IMAGE, FILE], fields: MORE })
    fc.assert(
      fc.property(requests, (asked) => {
        const body = asked as unknown as ChatRequest
        // A conversation without a word is none.
        fc.pre(linesOf(body.messages).length > 0)
        fc.pre(
          !body.messages.some(({ role, content }) => role === 'assistant' && Array.isArray(content) && content.some(isMedia)),
        )
        const { body: again } = toChat(toResponsesRequest(body, 'gpt-x'))
        expect(meaningOf(again)).to.deep.equal(meaningOf(body))
      }),
      { numRuns: 500 },
    )
  })
})

describe('A picture of the assistant', () => {
  it('is refused, not left out', () => {
    const messages = [{ role: 'assistant', content: [IMAGE] }] as ChatMessage[]
    expect(() => toResponsesRequest({ model: 'gpt-x', messages }, 'gpt-x'))
      .to.throw()
      .with.property('param', 'messages[0].content[0]')
  })
})

describe('A response as a chat completion', () => {
  const item = (more: object) => ({ id: 'x', status: 'completed', ...more })
  const response = (...output: object[]) => ({ id: 'resp_1', object: 'response', status: 'completed', error: null, output })

  it('leaves out what the tools of the vendor did', () => {
    const search = item({ type: 'web_search_call', action: { type: 'search' } })
    const citation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 }
    const text = { type: 'output_text', text: 'So', annotations: [citation] }
    const { choices } = toCompletion(response(search, item({ type: 'message', role: 'assistant', content: [text] })), 'gpt-x')
    const { type, ...nested } = citation
    expect(choices[0]).to.deep.equal({
      message: { content: 'So', refusal: null, annotations: [{ type, url_citation: nested }] },
      finish_reason: 'stop',
    })
  })

  it('has the calls of custom tools', () => {
    const call = item({ type: 'custom_tool_call', call_id: 'call_1', name: 'shell', input: 'ls' })
    const { choices } = toCompletion(response(call), 'gpt-x')
    expect(choices[0]!.message.tool_calls).to.deep.equal([
      { id: 'call_1', type: 'custom', custom: { name: 'shell', input: 'ls' } },
    ])
  })

  it('has all items of a stream, also those whose end comes after that of later ones, or never', () => {
    const call = (number: number) =>
      item({ type: 'function_call', call_id: `call_${number}`, name: 'look', arguments: `{"at":${number}}` })
    const added = (number: number) => ({
      type: 'response.output_item.added',
      output_index: number,
      item: { ...call(number), arguments: '' },
    })
    const events = [
      added(0),
      added(1),
      { type: 'response.output_item.done', output_index: 1, item: call(1) },
      { type: 'response.completed', response: response(call(0), call(1)) },
    ]
    const translator = new ResponseTranslator('gpt-x')
    const chunks = events.flatMap((event) => [...translator.event({ type: event.type, data: JSON.stringify(event) })])
    const parts = chunks.flatMap(({ choices }) => choices[0]?.delta?.tool_calls ?? [])
    const told = [0, 1].map((index) =>
      parts
        .filter((part) => part.index === index)
        .map(({ function: called }) => called?.arguments)
        .join(''),
    )
    expect(told).to.deep.equal(['{"at":0}', '{"at":1}'])
  })

  for (const [what, body] of [
    ['no object', 'Hi'],
    ['no output', { ...response(), output: null }],
    ['an item that is a text', { ...response(), output: ['Hi'] }],
    ['an item without a type', response({ id: 'x' })],
    ['content that is no list', response(item({ type: 'message', content: 'Hi' }))],
    ['a number as text', response(item({ type: 'message', content: [{ type: 'output_text', text: 7 }] }))],
    ['a call without an id', response(item({ type: 'function_call', name: 'look', arguments: '{}' }))],
    ['a call without a name', response(item({ type: 'function_call', call_id: 'call_1', arguments: '{}' }))],
    ['a status that is no end', { ...response(), status: 'in_progress' }],
  ] as const) {
    it(`is the upstream's error with ${what}`, () => {
      expect(() => toCompletion(body, 'gpt-x')).to.throw()
    })
  }
})
