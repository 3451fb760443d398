import { DONE, json, type ReceivedRequest, type Step, sse } from '../../../core/testing/kit.ts'

const FACTS = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'm-2026' }

export const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

/** The body that asks for a chat completion of `up/m`. */
export const ask = (more: object = {}) => ({ model: 'up/m', messages: [{ role: 'user' as const, content: 'Hi' }], ...more })

/** A completion as an upstream of OpenAI's kind gives it. */
export const completion = (content = 'Hello!') => ({
  ...FACTS,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }],
  usage: USAGE,
})

/** A chunk with a piece of content. */
export const piece = (content: string) => ({
  ...FACTS,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
})

const FIRST = { ...piece(''), choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }
const LAST = { ...piece(''), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }

/** A stream that says these pieces; steps that are not pieces stay where they stand. */
export const stream = (...items: (string | Exclude<Step, string>)[]): Step[] =>
  sse([FIRST, ...items.map((item) => (typeof item === 'string' ? piece(item) : item)), LAST, DONE])

/** `Hello!`, whole or as a stream, as the request asks; and no models to list. */
export function hello({ method, json: body }: ReceivedRequest): Step[] {
  if (method === 'GET') return json({ data: [] })
  return (body() as { stream?: boolean }).stream ? stream('Hel', 'lo!') : json(completion())
}
