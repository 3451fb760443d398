import { readMessageStream } from '../../../core/testing/conformance/read-messages.ts'
import { readResponseStream } from '../../../core/testing/conformance/read-responses.ts'
import { gather } from '../../../core/testing/kit.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { rawHttp } from '../../support/raw-http.ts'

/** What a client understands of a reply, in the same terms for every protocol. */
export interface Heard {
  readonly text: string
  readonly reasoning: string
  readonly tools: readonly { readonly id: string; readonly name: string; readonly input: unknown }[]
  /** Whether the reply says that it is complete. */
  readonly isComplete: boolean
}

/** An error status, or an error that ends a stream. */
export type Refused = { readonly refused: string }

/** A protocol of clients. */
export interface Way {
  readonly name: string
  readonly path: string
  readonly body: object
  whole(reply: Members): Heard
  stream(text: string): Heard | Refused
}

// biome-ignore lint/suspicious/noExplicitAny: replies of three protocols, whose members the tests compare
type Members = Readonly<Record<string, any>>

const messages = [{ role: 'user', content: 'Hi' }]
const parameters = { type: 'object' }

export const CHAT: Way = {
  name: 'chat completions',
  path: '/v1/chat/completions',
  body: { messages, tools: [{ type: 'function', function: { name: 'look', parameters } }] },
  whole: ({ choices: [{ message, finish_reason }] }) => ({
    text: message.content ?? '',
    reasoning: message.reasoning_content ?? message.reasoning ?? '',
    tools: (message.tool_calls ?? []).map(chatTool),
    isComplete: ['stop', 'tool_calls'].includes(finish_reason),
  }),
  stream(text) {
    const events = text.split('\n\n').filter((one) => one.startsWith('data: {'))
    const chunks: Members[] = events.map((one) => JSON.parse(one.slice('data: '.length)))
    const failed = chunks.find(({ error }) => error !== undefined)
    if (failed !== undefined) return { refused: failed.error.code }
    const [choice] = gather(chunks as unknown as Parameters<typeof gather>[0]).choices
    return {
      text: choice!.content,
      reasoning: choice!.reasoning,
      tools: choice!.tools.map(({ id, name, arguments: json }) => chatTool({ id, function: { name, arguments: json } })),
      isComplete: ['stop', 'tool_calls'].includes(String(choice!.finish)),
    }
  },
}

const chatTool = ({ id, function: called }: Members) => ({ id, name: called.name, input: JSON.parse(called.arguments) })

export const MESSAGES: Way = {
  name: 'Messages',
  path: '/v1/messages',
  body: { messages, max_tokens: 50, tools: [{ name: 'look', input_schema: parameters }] },
  whole: ({ content, stop_reason }) => messageHeard(content, stop_reason),
  stream(text) {
    const { content, stop, error } = readMessageStream(text)
    return error === undefined ? messageHeard(content, stop) : { refused: String(error.type) }
  },
}

const messageHeard = (content: readonly Members[], stop: unknown): Heard => ({
  text: content.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
  reasoning: content.map(({ thinking = '' }) => thinking).join(''),
  tools: content.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => ({ id, name, input })),
  isComplete: ['end_turn', 'tool_use'].includes(String(stop)),
})

export const RESPONSES: Way = {
  name: 'Responses',
  path: '/v1/responses',
  body: { input: 'Hi', tools: [{ type: 'function', name: 'look', parameters, strict: false }] },
  whole: ({ output, status }) => responseHeard(output, status),
  stream(text) {
    const { output, status, error } = readResponseStream(text)
    return error === undefined ? responseHeard(output, status) : { refused: String(error.code) }
  },
}

const responseHeard = (output: readonly Members[], status: unknown): Heard => ({
  text: output.flatMap(({ content = [] }) => content.map(({ text = '' }: Members) => text)).join(''),
  reasoning: output.flatMap(({ summary = [] }) => summary.map(({ text }: Members) => text)).join(''),
  tools: output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id: id, name, arguments: json }) => ({ id, name, input: JSON.parse(json) })),
  isComplete: status === 'completed',
})

/** Asks a model, and reads its reply. */
export async function hear(gateway: TestGateway, way: Way, asked: { model: string; stream: boolean }): Promise<Heard | Refused> {
  // `fetch` throws for a stream whose connection closes after its error.
  const reply = await rawHttp(`${gateway.url}${way.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.liveKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...way.body, ...asked }),
  })
  const text = await reply.text()
  if (reply.status !== 200) return { refused: String(reply.status) }
  return asked.stream ? way.stream(text) : way.whole(JSON.parse(text))
}
