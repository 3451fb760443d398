// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
/** Vendors that think, call the tool, want their thinking back, and refuse what others have written. */
import { json, type ReceivedRequest, type Script, sse } from '../../../core/testing/kit.ts'
import type { HistoryKind } from '../../../plugins/providers/openai-compatible/history.ts'
import { PRESETS, type Preset } from '../../../plugins/providers/openai-compatible/presets.ts'
import { message, text, thinking, tool } from '../../plugins/providers/anthropic/messages-api.ts'
import { event as frame } from '../../plugins/providers/bedrock/support.ts'
import { content as coherePart, reply as cohereReply, tool as cohereTool } from '../../plugins/providers/cohere/chat-reply.ts'
import { call as googleCall, reply as googleReply, thought } from '../../plugins/providers/gemini/generate-content.ts'
import * as interactions from '../../plugins/providers/gemini/interactions.ts'
import { reply as ollamaReply } from '../../plugins/providers/ollama/chat-api.ts'

/** What a vendor says: its state and a call of the tool, or the end. */
export interface Saying {
  /** Who says it, and in which turn: the arguments of the call. */
  readonly by: string
  readonly turn: number
  readonly isLast: boolean
  readonly stream: boolean
  /** The client speaks the Responses API, and the vendor has it. */
  readonly isResponse: boolean
}

/** An earlier call in a request: who made it, and which state comes with it. */
export interface HeardCall {
  readonly by: string
  readonly turn: number
  readonly state: string | undefined
}

/** A vendor, or a kind of history of one. */
export interface Vendor {
  readonly name: string
  readonly model: string
  /** The entry of routes.yaml. */
  namespace(origin: string): object
  /** Absent: it is asked for no reply, as the sandbox. */
  reply?(saying: Saying): Script
  heard?(body: unknown): readonly HeardCall[]
  /** What it refuses of a request, as its error says it; undefined if it takes all. */
  refuse?(body: unknown): string | undefined
  /** The protocols in which its own state does not come back. Default: none. */
  readonly forgets?: readonly string[]
  /** It takes state that others have written in chat completions, where nothing says whose it is, and ignores it or reads it as text. */
  readonly takesText?: true
}

/** Google's own APIs, of one vendor to the gateway: its translators write the same members. */
const GEMINI = ['gemini', 'gemini by interactions']
/** With the one that speaks OpenAI's: what one has signed, the others take. */
const GOOGLE = [...GEMINI, 'thought-signatures: gemini']
/** Claude on two clouds gets the bytes of a client of its own protocol, with what the other one has signed. */
const CLAUDE = ['anthropic', 'vertex']

/** Whether a vendor may get what another one has made, from clients of a protocol. */
export const mayHave = (vendor: Vendor, by: string, protocol: string): boolean =>
  (protocol === 'chat completions' && (vendor.takesText === true || [by, vendor.name].every((name) => GOOGLE.includes(name)))) ||
  [by, vendor.name].every((name) => GEMINI.includes(name)) ||
  (protocol === 'messages' && [by, vendor.name].every((name) => CLAUDE.includes(name)))

/** The state of a turn. */
export const stateOf = ({ by, turn }: Pick<Saying, 'by' | 'turn'>): string =>
  Buffer.from(`state ${turn} of ${by}`).toString('base64')

const DONE = 'Done.'
const argumentsOf = ({ by, turn }: Saying): string => JSON.stringify({ by, turn })

interface Part {
  readonly type?: string
  readonly text?: string
  readonly thinking?: unknown
  readonly input?: HeardCall
  readonly signature?: string
  readonly toolUse?: { readonly input: HeardCall }
  readonly reasoningContent?: { readonly reasoningText: { readonly signature: string } }
  readonly functionCall?: { readonly args: HeardCall }
  readonly thoughtSignature?: string
}

interface Turn {
  readonly role: string
  readonly content?: string | readonly Part[] | null
  readonly parts?: readonly Part[]
}

const key = (origin: string) => ({ baseUrl: origin, apiKey: '${env:KEY}' })
const of = (input: HeardCall, state: string | undefined): HeardCall => ({ by: input.by, turn: input.turn, state })

/** The calls of Claude's conversation, each with the signature before it. */
const heardByClaude = (body: unknown): readonly HeardCall[] =>
  (body as { messages: readonly Turn[] }).messages.flatMap(({ content }) => {
    if (!Array.isArray(content)) return []
    const parts = content as readonly Part[]
    const signature = parts.find((part) => part.signature !== undefined || part.reasoningContent !== undefined)
    const state = signature?.signature ?? signature?.reasoningContent?.reasoningText.signature
    return parts.flatMap((part) => {
      const input = part.input ?? part.toolUse?.input
      return input === undefined ? [] : [of(input, state)]
    })
  })

const ID = /^[a-zA-Z0-9_-]{1,64}$/
const idsIn = (body: unknown, names: readonly string[]): readonly string[] => {
  const ids: string[] = []
  JSON.stringify(body, (name, value: unknown) => {
    if (names.includes(name)) ids.push(String(value))
    return value
  })
  return ids
}

/** Claude, whose version is `model`: each model signs for itself. */
const claude = (saying: Saying, model: string): Script => {
  const blocks = saying.isLast
    ? [text(DONE)]
    : [thinking(stateOf(saying), 'Hm.'), tool(`toolu_${saying.by}_${saying.turn}`, 'look', argumentsOf(saying))]
  const reply = message(blocks, { stop_reason: saying.isLast ? 'end_turn' : 'tool_use' })
  const named = (words: string): string => words.replaceAll('claude-haiku-4-5-20251001', model)
  return saying.stream ? sse(reply.stream.map(named)) : json(JSON.parse(named(JSON.stringify(reply.whole))))
}

const refuseIds = (body: unknown): string | undefined =>
  idsIn(body, ['tool_use_id', 'toolUseId']).find((id) => !ID.test(id)) && 'tool_use.id: String should match pattern'

const anthropic: Vendor = {
  name: 'anthropic',
  model: 'claude-opus-4-8',
  namespace: (origin) => ({ provider: 'anthropic', config: key(origin) }),
  reply: (saying) => claude(saying, 'claude-opus-4-8'),
  heard: heardByClaude,
  refuse: refuseIds,
}

const vertex: Vendor = {
  name: 'vertex',
  model: 'claude-opus-4-7',
  namespace: (origin) => ({ provider: 'vertex', config: { project: 'acme-ai', region: 'us-east5', baseUrl: origin } }),
  reply: (saying) => claude(saying, 'claude-opus-4-7'),
  heard: heardByClaude,
  refuse: refuseIds,
}

/** Clients of the Messages API would reach Claude itself. */
const BY_CONVERSE = { '*': { messages: 'none' } }

const bedrock: Vendor = {
  name: 'bedrock',
  model: 'us.anthropic.claude-opus-4-8',
  namespace: (origin) => ({ provider: 'bedrock', config: { ...key(origin), region: 'us-east-1', facts: BY_CONVERSE } }),
  reply(saying) {
    const stopReason = saying.isLast ? 'end_turn' : 'tool_use'
    const usage = { inputTokens: 12, outputTokens: 7, totalTokens: 19 }
    const toolUse = { toolUseId: `tooluse_${saying.by}_${saying.turn}`, name: 'look' }
    const signature = stateOf(saying)
    const blocks = saying.isLast
      ? [{ whole: { text: DONE }, deltas: [{ text: DONE }] }]
      : [
          {
            whole: { reasoningContent: { reasoningText: { text: 'Hm.', signature } } },
            deltas: [{ reasoningContent: { text: 'Hm.' } }, { reasoningContent: { signature } }],
          },
          {
            whole: { toolUse: { ...toolUse, input: JSON.parse(argumentsOf(saying)) } },
            start: { toolUse },
            deltas: [{ toolUse: { input: argumentsOf(saying) } }],
          },
        ]
    if (!saying.stream)
      return json({ output: { message: { role: 'assistant', content: blocks.map(({ whole }) => whole) } }, stopReason, usage })
    const frames = blocks.flatMap((block, contentBlockIndex) => [
      ...('start' in block ? [frame({ contentBlockStart: { contentBlockIndex, start: block.start } })] : []),
      ...block.deltas.map((delta) => frame({ contentBlockDelta: { contentBlockIndex, delta } })),
      frame({ contentBlockStop: { contentBlockIndex } }),
    ])
    const all = [
      frame({ messageStart: { role: 'assistant' } }),
      ...frames,
      frame({ messageStop: { stopReason } }),
      frame({ metadata: { usage } }),
    ]
    return sse(all, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
  },
  heard: heardByClaude,
  refuse: refuseIds,
}

const LOST = 'skip_thought_signature_validator'

const gemini: Vendor = {
  name: 'gemini',
  model: 'gemini-3-flash-preview',
  namespace: (origin) => ({ provider: 'gemini', config: key(origin) }),
  reply(saying) {
    const signed = googleCall('look', JSON.parse(argumentsOf(saying)), { thoughtSignature: stateOf(saying) })
    const { whole, stream } = googleReply(saying.isLast ? [{ text: DONE }] : [thought('Hm.'), signed])
    return saying.stream ? sse(stream) : json(whole)
  },
  heard: (body) =>
    (body as { contents: readonly Turn[] }).contents.flatMap(({ parts = [] }) =>
      parts.flatMap(({ functionCall, thoughtSignature: state }) =>
        functionCall === undefined ? [] : [of(functionCall.args, state === LOST ? undefined : state)],
      ),
    ),
  refuse: (body) =>
    (body as { contents: readonly Turn[] }).contents.some(({ parts = [] }) => {
      const first = parts.find(({ functionCall }) => functionCall !== undefined)
      return first !== undefined && first.thoughtSignature === undefined
    })
      ? 'Function call is missing a thought_signature in functionCall parts.'
      : undefined,
}

interface InteractionStep {
  readonly type: string
  readonly id?: string
  readonly call_id?: string
  readonly signature?: string
  readonly arguments?: HeardCall
}

const geminiByInteractions: Vendor = {
  name: 'gemini by interactions',
  model: 'gemini-3.6-flash',
  namespace: (origin) => ({ provider: 'gemini', config: { ...key(origin), api: 'interactions' } }),
  reply(saying) {
    const called = interactions.call(`look_${saying.by.length}_${saying.turn}`, 'look', JSON.parse(argumentsOf(saying)))
    const steps = saying.isLast ? [interactions.output(DONE)] : [interactions.thought(stateOf(saying), 'Hm.'), called]
    const { whole, stream } = interactions.interaction(steps)
    return saying.stream ? sse(stream) : json(whole)
  },
  heard(body) {
    const { input } = body as { input: readonly InteractionStep[] }
    return input.flatMap(({ type, arguments: args }, index) => {
      const before = input.slice(0, index).findLast((step) => step.type !== 'model_output')
      return type === 'function_call' ? [of(args!, before?.signature)] : []
    })
  },
  refuse(body) {
    const { input } = body as { input: readonly InteractionStep[] }
    const ids = input.flatMap(({ type, id }) => (type === 'function_call' ? [id] : []))
    return new Set(ids).size < ids.length ? 'Two calls have the same id.' : undefined
  },
}

interface CohereMessage {
  readonly content?: string | readonly Part[]
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[]
}

const cohere: Vendor = {
  name: 'cohere',
  model: 'command-a-reasoning-08-2025',
  namespace: (origin) => ({ provider: 'cohere', config: key(origin) }),
  reply(saying) {
    const parts = saying.isLast
      ? [coherePart('text', DONE)]
      : [coherePart('thinking', stateOf(saying)), cohereTool(`look_${saying.by}_${saying.turn}`, 'look', argumentsOf(saying))]
    const { whole, stream } = cohereReply(parts, saying.isLast ? 'COMPLETE' : 'TOOL_CALL')
    return saying.stream ? sse(stream) : json(whole)
  },
  heard: (body) =>
    (body as { messages: readonly CohereMessage[] }).messages.flatMap(({ content, tool_calls: calls = [] }) => {
      const part = Array.isArray(content) ? (content as readonly Part[]).find(({ type }) => type === 'thinking') : undefined
      return calls.map((call) => of(JSON.parse(call.function.arguments), part?.thinking as string | undefined))
    }),
}

interface OllamaMessage {
  readonly thinking?: string
  readonly tool_calls?: readonly { readonly function: { readonly arguments: HeardCall } }[]
}

const ollama: Vendor = {
  name: 'ollama',
  model: 'gpt-oss',
  takesText: true,
  namespace: (origin) => ({ provider: 'ollama', config: key(origin) }),
  reply(saying) {
    const called = {
      tool_calls: [{ id: `call_${saying.by}`, function: { name: 'look', arguments: JSON.parse(argumentsOf(saying)) } }],
    }
    const { whole, stream } = ollamaReply(saying.isLast ? [{ content: DONE }] : [{ thinking: stateOf(saying) }, called])
    return saying.stream ? sse(stream, { headers: { 'content-type': 'application/x-ndjson' } }) : json(whole)
  },
  heard: (body) =>
    (body as { messages: readonly OllamaMessage[] }).messages.flatMap(({ thinking: state, tool_calls: calls = [] }) =>
      calls.map((call) => of(call.function.arguments, state)),
    ),
}

const sandbox: Vendor = { name: 'sandbox', model: 'echo', namespace: () => ({ provider: 'sandbox' }) }

/** An assistant's message of chat completions. */
interface Answer {
  readonly role: string
  readonly content?: string | readonly Part[] | null
  readonly reasoning?: string
  readonly reasoning_content?: string
  readonly reasoning_details?: readonly { readonly data?: string; readonly text?: string; readonly format?: string }[]
  readonly tool_calls?: readonly ChatCall[]
}

interface ChatCall {
  readonly id: string
  readonly function: { readonly arguments: string }
  readonly extra_content?: { readonly google?: { readonly thought_signature?: string } }
}

/** How a vendor with OpenAI's protocol writes its state, and reads it. */
interface Wire {
  readonly config: object
  readonly provider?: string
  readonly model?: string
  /** The pieces of its thinking in a message or in deltas. */
  thoughts(state: string): readonly object[]
  /** What stands at the call; in a stream it comes after it. */
  atCall?(state: string): object
  read(answer: Answer): string | undefined
  /** The members of an answer that it takes beside OpenAI's. */
  readonly takes: readonly string[]
  readonly refuse?: (answer: Answer) => string | undefined
  /** Ids of its calls. */
  id?(saying: Saying): string
  readonly forgets?: readonly string[]
  readonly takesText?: true
}

const PLAIN = ['role', 'content', 'name', 'refusal', 'tool_calls']
const PLAIN_CALL = ['id', 'type', 'function']

/** What is not OpenAI's in an answer. */
function unknownIn(answer: Answer, takes: readonly string[]): string | undefined {
  const member = Object.keys(answer).find((name) => ![...PLAIN, ...takes].includes(name))
  if (member !== undefined) return `property '${member}' is unsupported`
  const ofCalls = answer.tool_calls?.flatMap((call) => Object.keys(call)) ?? []
  const inCall = ofCalls.find((name) => ![...PLAIN_CALL, ...takes].includes(name))
  return inCall && `property 'tool_calls.${inCall}' is unsupported`
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

const answersIn = (body: unknown): readonly Answer[] =>
  (body as { messages: readonly Answer[] }).messages.filter(({ role }) => role === 'assistant')

/** A vendor with OpenAI's protocol. */
const open = (name: string, wire: Wire): Vendor => ({
  name,
  model: wire.model ?? 'm',
  ...(wire.forgets && { forgets: wire.forgets }),
  ...(wire.takesText && { takesText: true }),
  namespace: (origin) => ({
    provider: wire.provider ?? 'openai-compatible',
    config: { ...wire.config, ...key(wire.provider === undefined ? `${origin}/v1` : origin) },
  }),
  reply(saying) {
    const thoughts = saying.isLast ? [] : wire.thoughts(stateOf(saying))
    const atCall = wire.atCall?.(stateOf(saying)) ?? {}
    const called = {
      id: wire.id?.(saying) ?? `call_${saying.by}_${saying.turn}`,
      type: 'function',
      function: { name: 'look', arguments: argumentsOf(saying) },
    }
    const finish = saying.isLast ? 'stop' : 'tool_calls'
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
    if (!saying.stream) {
      const said = saying.isLast
        ? { content: DONE }
        : { content: null, ...Object.assign({}, ...thoughts), tool_calls: [{ ...called, ...atCall }] }
      return json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: finish }],
        usage,
      })
    }
    const calls = saying.isLast ? [] : [chunk({ tool_calls: [{ index: 0, ...called }] })]
    const late = saying.isLast || wire.atCall === undefined ? [] : [chunk({ tool_calls: [{ index: 0, ...atCall }] })]
    const words = saying.isLast ? [chunk({ role: 'assistant', content: DONE })] : thoughts.map((each) => chunk(each))
    return sse([...words, ...calls, ...late, chunk({}, finish), 'data: [DONE]\n\n'])
  },
  heard: (body) =>
    answersIn(body).flatMap((answer) =>
      (answer.tool_calls ?? []).map((call) => of(JSON.parse(call.function.arguments), wire.read(answer))),
    ),
  refuse(body) {
    for (const answer of answersIn(body)) {
      const why = unknownIn(answer, wire.takes) ?? wire.refuse?.(answer)
      if (why !== undefined) return why
    }
    return undefined
  },
})

const signatureOf = ({ tool_calls: calls = [] }: Answer): string | undefined => calls[0]?.extra_content?.google?.thought_signature

/** An item of the Responses API. */
interface Item {
  readonly type?: string
  readonly encrypted_content?: string
  readonly arguments?: string
}

/** A response that is not stored: its reasoning is encrypted. */
function response(saying: Saying): Script {
  const output = saying.isLast
    ? [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: DONE, annotations: [] }],
        },
      ]
    : [
        { type: 'reasoning', id: `rs_${saying.turn}`, summary: [], encrypted_content: stateOf(saying) },
        {
          type: 'function_call',
          id: `fc_${saying.turn}`,
          call_id: `call_${saying.turn}`,
          name: 'look',
          arguments: argumentsOf(saying),
        },
      ]
  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 }
  const whole = { id: `resp_${saying.turn}`, object: 'response', status: 'completed', error: null, output, usage }
  if (!saying.stream) return json(whole)
  const begun = { type: 'response.created', sequence_number: 0, response: { ...whole, status: 'in_progress', output: [] } }
  const ended = { type: 'response.completed', sequence_number: 1, response: whole }
  return sse([begun, ended].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
}

const azureChat = open('azure-openai', {
  provider: 'azure-openai',
  config: {},
  thoughts: () => [],
  read: () => undefined,
  takes: [],
  forgets: ['chat completions', 'messages'],
})

/** It has both of OpenAI's protocols, and keeps reasoning in one of them. */
const azure: Vendor = {
  ...azureChat,
  reply: (saying) => (saying.isResponse ? response(saying) : azureChat.reply!(saying)),
  heard(body) {
    const { input } = body as { input?: readonly Item[] }
    if (input === undefined) return azureChat.heard!(body)
    return input.flatMap((item, index) => {
      if (item.type !== 'function_call') return []
      const before = input[index - 1]
      return [of(JSON.parse(item.arguments!), before?.type === 'reasoning' ? before.encrypted_content : undefined)]
    })
  },
  refuse(body) {
    const { input } = body as { input?: readonly Item[] }
    if (input === undefined) return azureChat.refuse!(body)
    return input.some(({ encrypted_content: state }) => state?.includes('.'))
      ? 'The encrypted content could not be verified.'
      : undefined
  },
}

/** How the vendors of each kind of history write their state, and what they refuse. */
const WIRES: Readonly<Record<HistoryKind, Omit<Wire, 'config'>>> = {
  'as-sent': {
    thoughts: (reasoning_content) => [{ reasoning_content }],
    read: ({ reasoning_content: state }) => state,
    takes: ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'extra_content'],
    takesText: true,
  },
  none: {
    thoughts: (reasoning) => [{ reasoning }],
    read: () => undefined,
    takes: [],
    forgets: ['chat completions', 'responses', 'messages'],
  },
  reasoning: {
    thoughts: (reasoning) => [{ reasoning }],
    read: ({ reasoning: state }) => state,
    takes: ['reasoning'],
    takesText: true,
  },
  'reasoning-content': {
    thoughts: (reasoning_content) => [{ reasoning_content }],
    read: ({ reasoning_content: state }) => state,
    takes: ['reasoning_content'],
    takesText: true,
  },
  'required-reasoning-content': {
    thoughts: (reasoning_content) => [{ reasoning_content }],
    read: ({ reasoning_content: state }) => (state === ' ' ? undefined : state),
    takes: ['reasoning_content'],
    takesText: true,
    refuse: ({ reasoning_content: state = '' }) =>
      state === '' ? 'reasoning_content is missing in assistant message' : undefined,
  },
  'reasoning-details': {
    thoughts: (data) => [
      { reasoning: 'Hm.' },
      { reasoning_details: [{ type: 'reasoning.encrypted', format: 'google-gemini-v1', index: 0, id: 'tool_look_1', data }] },
    ],
    read: ({ reasoning_details: details }) => details?.[0]?.data,
    takes: ['reasoning', 'reasoning_details'],
    refuse: ({ reasoning_details: details = [] }) =>
      details.some(({ data }) => data === undefined) ? 'Invalid reasoning_details' : undefined,
  },
  'minimax-details': {
    thoughts: (words) => [
      {
        reasoning_details: [
          { type: 'reasoning.text', format: 'MiniMax-response-v1', index: 0, id: 'reasoning-text-1', text: words },
        ],
      },
    ],
    read: ({ reasoning_details: details }) => details?.[0]?.text,
    takes: ['reasoning_content', 'reasoning_details'],
    refuse: ({ reasoning_details: details = [] }) =>
      details.some(({ text: words }) => words === undefined) ? 'invalid params (2013)' : undefined,
  },
  'thinking-parts': {
    thoughts: (words) => [{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: words }] }] }],
    read: ({ content }) => {
      const [first] = Array.isArray(content) ? (content as readonly Part[]) : []
      return first?.type === 'thinking' ? (first.thinking as readonly Part[])[0]?.text : undefined
    },
    takes: [],
    id: ({ by, turn }) => `${by.replaceAll(/[^a-z]/g, '')}xxxxxxxx`.slice(0, 8) + turn,
    refuse: ({ tool_calls: calls = [] }) =>
      calls.some(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(id))
        ? 'Tool call id must be a-z, A-Z, 0-9, with a length of 9.'
        : undefined,
    forgets: ['chat completions'],
  },
  'thought-signatures': {
    model: 'gemini-3-flash-preview',
    thoughts: () => [],
    atCall: (thought_signature) => ({ extra_content: { google: { thought_signature } } }),
    read: (answer) => (signatureOf(answer) === LOST ? undefined : signatureOf(answer)),
    takes: ['extra_content'],
    refuse: (answer) =>
      answer.tool_calls !== undefined && signatureOf(answer) === undefined
        ? 'Function call is missing a thought_signature.'
        : undefined,
  },
}

const ofKind = (kind: HistoryKind, preset: string): Vendor =>
  open(`${kind}: ${preset}`, { ...WIRES[kind], config: { preset, responses: false } })

/** The nine providers, Gemini by both of its APIs, and each kind of history of openai-compatible. */
export const VENDORS: readonly Vendor[] = [
  anthropic,
  bedrock,
  cohere,
  gemini,
  geminiByInteractions,
  ollama,
  sandbox,
  vertex,
  azure,
  open('an own baseUrl', { ...WIRES['as-sent'], config: {} }),
  ofKind('none', 'groq'),
  ofKind('reasoning', 'cerebras'),
  ofKind('reasoning-content', 'zai'),
  ofKind('required-reasoning-content', 'moonshot'),
  ofKind('reasoning-details', 'openrouter'),
  ofKind('minimax-details', 'minimax'),
  ofKind('thinking-parts', 'mistral'),
  ofKind('thought-signatures', 'gemini'),
]

const presets: readonly (readonly [string, Preset])[] = Object.entries(PRESETS)

/** Each preset. */
export const PRESET_VENDORS: readonly Vendor[] = presets.map(([preset, { history = 'as-sent' }]) => ofKind(history, preset))

/** The reply of a vendor's upstream to a request: 400 for what it refuses; the end after as many results as `turns`. */
export function answer(
  vendor: Vendor,
  request: ReceivedRequest,
  turns: number,
): { readonly script: Script; readonly heard: readonly HeardCall[]; readonly refused: string | undefined } {
  const body = request.json() as { stream?: boolean }
  const heard = vendor.heard!(body)
  const refused = vendor.refuse?.(body)
  const stream = body.stream === true || /stream/i.test(request.path)
  const saying = { by: vendor.name, turn: heard.length, isLast: heard.length >= turns, stream, isResponse: 'input' in body }
  return {
    heard,
    refused,
    script: refused === undefined ? vendor.reply!(saying) : json({ error: { message: refused } }, { status: 400 }),
  }
}
