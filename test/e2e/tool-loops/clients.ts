import { readMessageStream } from '../../../core/testing/conformance/read-messages.ts'

/** A client of a protocol, which sends back all that it was told. */
export interface LoopClient {
  readonly name: string
  readonly path: string
  /** The body of the first request. */
  begin(question: string): Body
  /** The model's part of the conversation, in the client's own form. */
  read(reply: string, stream: boolean): readonly Part[]
  /** The ids of the tool's calls in it. */
  calls(parts: readonly Part[]): readonly string[]
  /** The next body: with the model's part, and the results of its calls or what the user says then. */
  next(body: Body, parts: readonly Part[], results: readonly Result[], words?: string): Body
  textOf(parts: readonly Part[]): string
}

/** A request. */
export type Body = Readonly<Record<string, unknown>>

/** A message, an item or a block. */
export interface Part {
  readonly [member: string]: unknown
}

/** What the tool found. */
export interface Result {
  readonly id: string
  readonly output: string
}

const parameters = { type: 'object', properties: { at: { type: 'number' } } }
const append = (list: unknown, more: readonly object[]): readonly unknown[] => [...(list as readonly unknown[]), ...more]
const says = (words: string | undefined) => (words === undefined ? [] : [{ role: 'user', content: words }])

const events = (text: string): readonly Part[] => [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data!))

/** Two pieces of an object: texts are joined, lists appended, but calls by their index; of any other member the last counts. */
function joined(before: Part, piece: Part): Part {
  const entries = Object.entries(piece).map(([name, value]) => {
    const known = before[name]
    if (name === 'tool_calls') return [name, (value as readonly Part[]).reduce(withCall, (known ?? []) as readonly Part[])]
    if (name === 'function') return [name, joined((known ?? {}) as Part, value as Part)]
    if (Array.isArray(value) && Array.isArray(known)) return [name, [...known, ...value]]
    return [name, typeof value === 'string' && typeof known === 'string' ? known + value : value]
  })
  return { ...before, ...Object.fromEntries(entries) }
}

const withCall = (calls: readonly Part[], { index, ...call }: Part): readonly Part[] => {
  const at = Number(index)
  return at < calls.length ? calls.map((one, place) => (place === at ? joined(one, call) : one)) : [...calls, call]
}

interface ToolCalls {
  readonly tool_calls?: readonly { readonly id: string }[]
}

const chat: LoopClient = {
  name: 'chat completions',
  path: '/v1/chat/completions',
  begin: (question) => ({
    messages: [{ role: 'user', content: question }],
    tools: [{ type: 'function', function: { name: 'look', parameters } }],
    reasoning_effort: 'low',
  }),
  read(reply, stream) {
    if (!stream) return [JSON.parse(reply).choices[0].message]
    const deltas = events(reply).flatMap(({ choices }) => (choices as readonly { delta: Part }[]).map(({ delta }) => delta))
    const { content, ...told } = deltas.reduce(joined, {})
    return [{ ...told, role: 'assistant', content: content || null }]
  },
  calls: (parts) => parts.flatMap((part) => ((part as ToolCalls).tool_calls ?? []).map(({ id }) => id)),
  next(body, parts, results, words) {
    const told = results.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output }))
    return { ...body, messages: append(body.messages, [...parts, ...told, ...says(words)]) }
  },
  textOf: (parts) => String(parts[0]!.content),
}

const responses: LoopClient = {
  name: 'responses',
  path: '/v1/responses',
  begin: (question) => ({
    input: [{ role: 'user', content: question }],
    tools: [{ type: 'function', name: 'look', parameters }],
    reasoning: { effort: 'low' },
    include: ['reasoning.encrypted_content'],
    store: false,
  }),
  read: (reply, stream) => (stream ? (events(reply).at(-1)!.response as { output: Part[] }) : JSON.parse(reply)).output,
  calls: (parts) => parts.filter(({ type }) => type === 'function_call').map((part) => String(part.call_id)),
  next(body, parts, results, words) {
    const told = results.map(({ id, output }) => ({ type: 'function_call_output', call_id: id, output }))
    return { ...body, input: append(body.input, [...parts, ...told, ...says(words)]) }
  },
  textOf: (parts) => (parts[0]!.content as readonly { text: string }[])[0]!.text,
}

const messages: LoopClient = {
  name: 'messages',
  path: '/v1/messages',
  begin: (question) => ({
    max_tokens: 10_000,
    messages: [{ role: 'user', content: question }],
    tools: [{ name: 'look', input_schema: parameters }],
    thinking: { type: 'enabled', budget_tokens: 2000 },
  }),
  read: (reply, stream) => (stream ? readMessageStream(reply).content : JSON.parse(reply).content),
  calls: (parts) => parts.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id)),
  next(body, parts, results, words) {
    const told = results.map(({ id, output }) => ({ type: 'tool_result', tool_use_id: id, content: output }))
    const content = words === undefined ? told : words
    return {
      ...body,
      messages: append(body.messages, [
        { role: 'assistant', content: parts },
        { role: 'user', content },
      ]),
    }
  },
  textOf: (parts) => String(parts[0]!.text),
}

/** A client of chat completions that keeps only OpenAI's members of a message, as most do. */
export const forgetful = (name: string): LoopClient => ({
  ...chat,
  name,
  read: (reply, stream) =>
    chat.read(reply, stream).map(({ role, content, tool_calls: calls }) => ({
      role,
      content,
      ...(calls !== undefined && {
        tool_calls: (calls as readonly Part[]).map(({ id, type, function: called }) => ({ id, type, function: called })),
      }),
    })),
})

/** One of each protocol. */
export const LOOP_CLIENTS: readonly LoopClient[] = [chat, responses, messages]
