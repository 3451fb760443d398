// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { type Bytes, DONE, event } from '../../../core/testing/kit.ts'
import { chunkOf as invokedEvent } from '../../plugins/providers/bedrock/invoke-model.ts'
import { event as bedrockEvent, exception } from '../../plugins/providers/bedrock/support.ts'
import { interaction, interactionEvent, output, thought } from '../../plugins/providers/gemini/interactions.ts'
import { named } from '../messages/fixture.ts'

/** Thoughts and then text, 400 tokens each, in few events. */
export const PIECES = Array.from({ length: 5 }, (_, index) => `${'word '.repeat(319)}wor${index} `)
const [THOUGHTS, TEXTS] = [PIECES.slice(0, 2), PIECES.slice(2)]
const THOUGHT = THOUGHTS.join('')
const TEXT = TEXTS.join('')

/** A usage in the terms of a protocol. */
export type WriteUsage = (prompt: unknown, completion: unknown) => object

/** What an upstream speaks. */
interface Speech {
  readonly usage: WriteUsage
  /** Default: `text/event-stream`. */
  readonly streamType?: string
  /** Whether a stream begins with a usage, `start`. */
  readonly hasStart?: true
  /** The frames of the stream. `usage`: the final one; undefined: none. */
  stream(usage: object | null | undefined, start: object): readonly Bytes[]
  whole(usage: object | null | undefined): object
  /** The text in a frame. Absent: its bytes. */
  textIn?(frame: Bytes): string
  /** The frame that ends a stream with an error, with what was used where it may say that. */
  failure(usage?: object): Bytes
  /** A whole reply that is an error, and says what was used. Absent: errors do not say it. */
  wholeFailure?(usage: object): object
  /** The body of a refusal that says what was used. Absent: `wholeFailure`. */
  refusal?(usage: object): object
}

/** How calls of one protocol reach one kind of upstream. */
export interface Way extends Speech {
  readonly path: string
  /** Its namespace, and the model there. */
  readonly name: string
  readonly model: string
}

/** The Messages API. `frame`: how its events are sent. */
const messages = (frame: (event: MessagesEvent) => Bytes): Speech => ({
  usage: (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  hasStart: true,
  stream: (usage, start) => [
    frame({
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [], usage: start },
    }),
    frame({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
    ...THOUGHTS.map((thinking) => frame({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking } })),
    frame({ type: 'content_block_stop', index: 0 }),
    frame({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }),
    ...TEXTS.map((text) => frame({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text } })),
    frame({ type: 'content_block_stop', index: 1 }),
    frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }),
    frame({ type: 'message_stop' }),
  ],
  whole: (usage) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content: [
      { type: 'thinking', thinking: THOUGHT, signature: 'c2ln' },
      { type: 'text', text: TEXT },
    ],
    stop_reason: 'end_turn',
    usage,
  }),
  failure: () => frame({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  // As gateways do that speak the protocol: Anthropic's own errors have no usage.
  refusal: (usage) => ({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, usage }),
})

type MessagesEvent = Parameters<typeof named>[0]

const MESSAGES = messages(named)

const CHUNK = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const openai: WriteUsage = (prompt_tokens, completion_tokens) => ({ prompt_tokens, completion_tokens })
const ERROR = { message: 'Overloaded', type: 'server_error', param: null, code: null }
const chunkOf = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  event({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }], ...more })

const CHAT: Speech = {
  usage: openai,
  hasStart: true,
  stream: (usage, start) => [
    chunkOf({ role: 'assistant', content: '' }, null, { usage: start }),
    ...THOUGHTS.map((reasoning_content) => chunkOf({ reasoning_content })),
    ...TEXTS.map((content) => chunkOf({ content })),
    chunkOf({}, 'stop'),
    event({ ...CHUNK, choices: [], usage }),
    DONE,
  ],
  whole: (usage) => ({
    ...CHUNK,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', reasoning_content: THOUGHT, content: TEXT }, finish_reason: 'stop' }],
    usage,
  }),
  failure: (usage) => event({ error: ERROR, usage }),
  wholeFailure: (usage) => ({ error: ERROR, usage }),
}

const COMPLETIONS: Speech = {
  ...CHAT,
  stream: (usage, start) => [
    event({ ...CHUNK, choices: [{ index: 0, text: '', finish_reason: null }], usage: start }),
    ...PIECES.map((text) => event({ ...CHUNK, choices: [{ index: 0, text, finish_reason: null }] })),
    event({ ...CHUNK, choices: [{ index: 0, text: '', finish_reason: 'stop' }], usage }),
    DONE,
  ],
  whole: (usage) => ({
    ...CHUNK,
    object: 'text_completion',
    choices: [{ index: 0, text: THOUGHT + TEXT, finish_reason: 'stop' }],
    usage,
  }),
}

const typed = (data: { readonly type: string; readonly [member: string]: unknown }): string => event(data, data.type)
const failedResponse = (usage: object | undefined): object => ({
  id: 'resp_1',
  object: 'response',
  status: 'failed',
  error: ERROR,
  output: [],
  usage,
})
const AT = { item_id: 'i', output_index: 0, content_index: 0 }

const RESPONSES: Speech = {
  usage: (input_tokens, output_tokens) => ({ input_tokens, output_tokens }),
  hasStart: true,
  stream: (usage, start) => [
    typed({ type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', usage: start } }),
    ...THOUGHTS.map((delta) => typed({ type: 'response.reasoning_text.delta', ...AT, delta })),
    ...TEXTS.map((delta) => typed({ type: 'response.output_text.delta', ...AT, delta })),
    typed({ type: 'response.output_text.done', ...AT, text: TEXT }),
    typed({ type: 'response.completed', response: { id: 'resp_1', object: 'response', status: 'completed', output: [], usage } }),
  ],
  whole: (usage) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: THOUGHT }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: TEXT }] },
    ],
    usage,
  }),
  failure: (usage) => typed({ type: 'response.failed', response: failedResponse(usage) }),
  wholeFailure: (usage) => failedResponse(usage),
}

const THINKING = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: THOUGHT }] }
const SPOKEN = { type: 'output_text', text: TEXT, annotations: [], logprobs: [] }
const ANSWER = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [SPOKEN] }
const ITEM = { item_id: 'msg_1', output_index: 1, content_index: 0 }
const responseOf = (status: string, more: object): object => ({ id: 'resp_1', object: 'response', model: 'm', status, ...more })

/** What OpenAI says to clients of other protocols: all the events of its stream, of which only the last has a usage. */
const BY_RESPONSES: Speech = {
  usage: RESPONSES.usage,
  stream: (usage) => [
    typed({ type: 'response.created', response: responseOf('in_progress', { output: [], usage: null }) }),
    typed({ type: 'response.output_item.added', output_index: 0, item: { ...THINKING, summary: [] } }),
    ...THOUGHTS.map((delta) =>
      typed({ type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0, summary_index: 0, delta }),
    ),
    typed({ type: 'response.output_item.done', output_index: 0, item: THINKING }),
    typed({ type: 'response.output_item.added', output_index: 1, item: { ...ANSWER, status: 'in_progress', content: [] } }),
    typed({ type: 'response.content_part.added', ...ITEM, part: { ...SPOKEN, text: '' } }),
    ...TEXTS.map((delta) => typed({ type: 'response.output_text.delta', ...ITEM, logprobs: [], delta })),
    typed({ type: 'response.output_text.done', ...ITEM, logprobs: [], text: TEXT }),
    typed({ type: 'response.content_part.done', ...ITEM, part: SPOKEN }),
    typed({ type: 'response.output_item.done', output_index: 1, item: ANSWER }),
    typed({ type: 'response.completed', response: responseOf('completed', { output: [THINKING, ANSWER], usage }) }),
  ],
  whole: (usage) => responseOf('completed', { output: [THINKING, ANSWER], usage }),
  failure: RESPONSES.failure,
  wholeFailure: failedResponse,
}

const GEMINI: Speech = {
  usage: (promptTokenCount, candidatesTokenCount) => ({ promptTokenCount, candidatesTokenCount }),
  hasStart: true,
  stream: (usage, start) => [
    event({ responseId: 'r', candidates: [{ content: { parts: [{ text: '' }] } }], usageMetadata: start }),
    ...THOUGHTS.map((text) => event({ candidates: [{ content: { parts: [{ text, thought: true }] } }] })),
    ...TEXTS.map((text) => event({ candidates: [{ content: { parts: [{ text }] } }] })),
    event({ candidates: [{ finishReason: 'STOP' }], usageMetadata: usage }),
  ],
  whole: (usage) => ({
    candidates: [{ content: { parts: [{ text: THOUGHT, thought: true }, { text: TEXT }] }, finishReason: 'STOP' }],
    usageMetadata: usage,
  }),
  failure: (usage) => event({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }], usageMetadata: usage }),
  wholeFailure: (usage) => ({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }], usageMetadata: usage }),
}

const FAILED = { status: 'failed', errors: [{ code: 'api_error', message: 'It failed.' }] }

const INTERACTIONS: Speech = {
  usage: (total_input_tokens, total_output_tokens) => ({ total_input_tokens, total_output_tokens }),
  stream: (usage) => interaction([thought('c2ln', ...THOUGHTS), output(...TEXTS)], { usage: usage as object }).stream,
  whole: (usage) => interaction([thought('c2ln', THOUGHT), output(TEXT)], { usage: usage as object }).whole,
  failure: (usage) => interactionEvent('interaction.completed', { interaction: { ...FAILED, usage } }),
  wholeFailure: (usage) => ({ ...FAILED, usage }),
}

const CONVERSE: Speech = {
  usage: (inputTokens, outputTokens) => ({ inputTokens, outputTokens }),
  streamType: 'application/vnd.amazon.eventstream',
  stream: (usage) => [
    bedrockEvent({ messageStart: { role: 'assistant' } }),
    ...THOUGHTS.map((text) =>
      bedrockEvent({ contentBlockDelta: { contentBlockIndex: 0, delta: { reasoningContent: { text } } } }),
    ),
    bedrockEvent({ contentBlockStop: { contentBlockIndex: 0 } }),
    ...TEXTS.map((text) => bedrockEvent({ contentBlockDelta: { contentBlockIndex: 1, delta: { text } } })),
    bedrockEvent({ contentBlockStop: { contentBlockIndex: 1 } }),
    bedrockEvent({ messageStop: { stopReason: 'end_turn' } }),
    bedrockEvent({ metadata: { usage, metrics: { latencyMs: 1 } } }),
  ],
  whole: (usage) => ({
    output: {
      message: {
        role: 'assistant',
        content: [{ reasoningContent: { reasoningText: { text: THOUGHT, signature: 'c2ln' } } }, { text: TEXT }],
      },
    },
    stopReason: 'end_turn',
    usage,
  }),
  failure: () => exception('modelStreamErrorException', 'The model failed.'),
  wholeFailure: (usage) => ({
    output: { message: { role: 'assistant', content: [] } },
    stopReason: 'malformed_model_output',
    usage,
  }),
}

/** What Claude says on Bedrock to clients of the Messages API. */
const INVOKED: Speech = {
  ...messages(invokedEvent),
  streamType: 'application/vnd.amazon.eventstream',
  textIn(frame) {
    const [, bytes = ''] = /"bytes":"([^"]*)"/.exec(Buffer.from(frame).toString('latin1')) ?? []
    return Buffer.from(bytes, 'base64').toString()
  },
  failure: () => exception('modelStreamErrorException', 'The model failed.'),
}

const cohereContent = (index: number, content: object): string =>
  event({ type: 'content-delta', index, delta: { message: { content } } })

const COHERE: Speech = {
  usage: (input_tokens, output_tokens) => ({ tokens: { input_tokens, output_tokens } }),
  stream: (usage) => [
    event({ id: 'c', type: 'message-start', delta: { message: { role: 'assistant' } } }),
    ...THOUGHTS.map((thinking) => cohereContent(0, { thinking })),
    ...TEXTS.map((text) => cohereContent(1, { text })),
    event({ type: 'message-end', delta: { finish_reason: 'COMPLETE', usage } }),
  ],
  whole: (usage) => ({
    id: 'c',
    finish_reason: 'COMPLETE',
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: THOUGHT },
        { type: 'text', text: TEXT },
      ],
    },
    usage,
  }),
  failure: (usage) => event({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'It failed.', usage } }),
  wholeFailure: (usage) => ({ id: 'c', finish_reason: 'ERROR', message: { role: 'assistant', content: [] }, usage }),
}

const line = (data: object): string => `${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', ...data })}\n`
const message = (said: object): object => ({ role: 'assistant', content: '', ...said })

const OLLAMA: Speech = {
  usage: (prompt_eval_count, eval_count) => ({ prompt_eval_count, eval_count }),
  streamType: 'application/x-ndjson',
  stream: (usage) => [
    ...THOUGHTS.map((thinking) => line({ message: message({ thinking }), done: false })),
    ...TEXTS.map((content) => line({ message: message({ content }), done: false })),
    line({ message: message({}), done: true, done_reason: 'stop', ...usage }),
  ],
  whole: (usage) => ({
    model: 'm',
    message: message({ thinking: THOUGHT, content: TEXT }),
    done: true,
    done_reason: 'stop',
    ...usage,
  }),
  failure: () => `${JSON.stringify({ error: 'an error was encountered while running the model' })}\n`,
}

const KEY = '${env:KEY}'
const GOOGLE_CLOUD = { project: 'acme-ai', region: 'us-east5' }

/** A provider as a namespace, and its upstream for each protocol. */
interface Upstream {
  readonly provider: string
  readonly model: string
  config(origin: string): object
  readonly speeches: Readonly<Record<string, Speech>>
}

const translated = (speech: Speech): Upstream['speeches'] => ({
  '/v1/chat/completions': speech,
  '/v1/messages': speech,
  '/v1/responses': speech,
})

const OPENAI = { ...translated(CHAT), '/v1/completions': COMPLETIONS }

/** All providers that have an upstream, by namespace. */
const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  open: {
    provider: 'openai-compatible',
    model: 'gpt',
    config: (origin) => ({ baseUrl: `${origin}/v1`, apiKey: KEY }),
    speeches: OPENAI,
  },
  native: {
    provider: 'openai-compatible',
    model: 'gpt',
    config: (origin) => ({ baseUrl: `${origin}/v1`, apiKey: KEY, responses: true }),
    speeches: { '/v1/responses': RESPONSES },
  },
  'by-responses': {
    provider: 'openai-compatible',
    model: 'gpt',
    config: (origin) => ({ baseUrl: `${origin}/v1`, apiKey: KEY, responses: true, api: 'responses' }),
    speeches: { '/v1/chat/completions': BY_RESPONSES, '/v1/messages': BY_RESPONSES },
  },
  azure: {
    provider: 'azure-openai',
    model: 'gpt',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    speeches: { ...OPENAI, '/v1/responses': RESPONSES },
  },
  claude: {
    provider: 'anthropic',
    model: 'claude-x',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    speeches: translated(MESSAGES),
  },
  gemini: {
    provider: 'gemini',
    model: 'gemini-x',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    speeches: translated(GEMINI),
  },
  'gemini-by-interactions': {
    provider: 'gemini',
    model: 'gemini-x',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY, api: 'interactions' }),
    speeches: translated(INTERACTIONS),
  },
  'vertex-gemini': {
    provider: 'vertex',
    model: 'gemini-2.5-pro',
    config: (origin) => ({ ...GOOGLE_CLOUD, baseUrl: origin }),
    speeches: translated(GEMINI),
  },
  'vertex-claude': {
    provider: 'vertex',
    model: 'claude-haiku-4-5@20251001',
    config: (origin) => ({ ...GOOGLE_CLOUD, baseUrl: origin }),
    speeches: translated(MESSAGES),
  },
  bedrock: {
    provider: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-6',
    config: (origin) => ({ region: 'us-east-1', baseUrl: origin, apiKey: KEY }),
    speeches: { ...translated(CONVERSE), '/v1/messages': INVOKED },
  },
  nova: {
    provider: 'bedrock',
    model: 'amazon.nova-2-lite-v1:0',
    config: (origin) => ({ region: 'us-east-1', baseUrl: origin, apiKey: KEY }),
    speeches: { '/v1/messages': CONVERSE },
  },
  cohere: {
    provider: 'cohere',
    model: 'command-a-reasoning-08-2025',
    config: (origin) => ({ baseUrl: origin, apiKey: KEY }),
    speeches: translated(COHERE),
  },
  ollama: {
    provider: 'ollama',
    model: 'gpt-oss:20b',
    config: (origin) => ({ baseUrl: origin }),
    speeches: translated(OLLAMA),
  },
}

/** The namespaces of all providers at one address. */
export const namespacesAt = (origin: string): object =>
  Object.fromEntries(
    Object.entries(UPSTREAMS).map(([name, { provider, config }]) => [name, { provider, breaker: false, config: config(origin) }]),
  )

/** Every provider by every protocol in which it can be called. */
export const WAYS: readonly Way[] = Object.entries(UPSTREAMS).flatMap(([name, { model, speeches }]) =>
  Object.entries(speeches).map(([path, speech]) => ({ ...speech, path, name, model: `${name}/${model}` })),
)

/** A request of its protocol. */
export function requestOf({ path, model }: Way): object {
  if (path === '/v1/responses') return { model, input: 'Hi', store: false }
  if (path === '/v1/completions') return { model, prompt: 'Hi' }
  return { model, max_tokens: 5000, messages: [{ role: 'user', content: 'Hi' }] }
}
