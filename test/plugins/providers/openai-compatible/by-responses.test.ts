import { expect } from 'chai'
import fc from 'fast-check'
import { toChat } from '../../../../core/protocol/responses/request.ts'
import type { ChatMessage, ChatRequest } from '../../../../core/sdk/api.ts'
import { toCompletion } from '../../../../plugins/providers/openai-compatible/by-responses/reply.ts'
import { toResponsesRequest } from '../../../../plugins/providers/openai-compatible/by-responses/request.ts'
import { createResponsesTranslator } from '../../../../plugins/providers/openai-compatible/by-responses/stream.ts'
import { anyRequest } from '../../../support/any-request.ts'

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

const SAME = ['temperature', 'top_p', 'reasoning_effort', 'stream'] as const

/** The tools, and which of them is to be called. */
const toolsOf = ({ tools, tool_choice: choice }: ChatRequest): readonly unknown[] => [
  // A name stands for one tool.
  [...new Set((tools ?? []).map((tool) => tool.type === 'function' && tool.function.name))],
  (tools ?? []).length > 0 &&
    (typeof choice === 'object' && choice?.type === 'function' ? choice.function.name : (choice ?? 'auto')),
]

describe('A chat completion as a request of the Responses API', () => {
  it('means the same to an upstream that reads it as a chat completion again', () => {
    const requests = anyRequest({ models: ['gpt-x'], parts: [IMAGE, FILE] })
    fc.assert(
      fc.property(requests, (asked) => {
        const body = asked as unknown as ChatRequest
        // A conversation without a word is none.
        fc.pre(linesOf(body.messages).length > 0)
        fc.pre(
          !body.messages.some(({ role, content }) => role === 'assistant' && Array.isArray(content) && content.some(isMedia)),
        )
        const { body: again } = toChat(toResponsesRequest(body, 'gpt-x'))
        expect(linesOf(again.messages)).to.deep.equal(linesOf(body.messages))
        expect(toolsOf(again)).to.deep.equal(toolsOf(body))
        for (const name of SAME) expect(again[name] ?? false, name).to.equal(body[name] ?? false)
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
    const translator = createResponsesTranslator('gpt-x')
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
