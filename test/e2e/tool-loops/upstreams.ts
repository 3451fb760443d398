// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { randomUUID } from 'node:crypto'
import { json, type Script, sse } from '../../../core/testing/kit.ts'
import { message, text, thinking, tool } from '../../plugins/providers/anthropic/messages-api.ts'
import { event as frame } from '../../plugins/providers/bedrock/support.ts'
import { call, reply as gemini, thought } from '../../plugins/providers/gemini/generate-content.ts'
import * as interactions from '../../plugins/providers/gemini/interactions.ts'

/** What a model does in a turn: it thinks and calls the tool, or it ends with `Done.`. */
export interface Turn {
  readonly number: number
  readonly isLast: boolean
  readonly stream: boolean
  /** That the client speaks. */
  readonly protocol: string
}

/** A provider, and a model behind it that thinks before it calls. */
export interface LoopUpstream {
  readonly name: string
  readonly model: string
  /** The entry of routes.yaml for an upstream at this address. */
  namespace(origin: string): object
  /** The protocols in which clients get nothing that the upstream wants back. Default: none. */
  readonly stateless?: readonly string[]
  reply(turn: Turn): Script
  /** The conversation that it received, a line for each part: what it is, and what it says. */
  conversation(body: unknown): string[]
}

/** What an upstream of this turn wants back with the result of its call. */
export const stateOf = (turn: number): string => Buffer.from(`state of turn ${turn}`).toString('base64')

/** The part of each turn's call. */
export const callOf = (turn: number): string => `call look {"at":${turn}}`

/** A client of chat completions that drops what it does not know. */
export const FORGETFUL = 'chat completions by plain messages'

const THOUGHTS = 'I must look.'
const DONE = 'Done.'
/** As vendors make them: none comes twice. */
const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`
const argumentsOf = ({ number }: Turn): string => JSON.stringify({ at: number })

/** A part of a request, of any of the protocols: the members that are read here. */
interface Part {
  readonly type?: string
  readonly role?: string
  readonly text?: string
  readonly content?: string | readonly Part[] | null
  readonly name?: string
  readonly input?: object
  readonly signature?: string
  /** Of a step of Gemini's. */
  readonly result?: string
  readonly toolUse?: { readonly name: string; readonly input: object }
  readonly toolResult?: { readonly content: readonly Part[] }
  readonly reasoningContent?: { readonly reasoningText: { readonly signature: string } }
  readonly functionCall?: { readonly name: string; readonly args: object }
  readonly functionResponse?: { readonly response: { readonly output: string } }
  readonly thoughtSignature?: string
  readonly parts?: readonly Part[]
  readonly reasoning_content?: string
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[]
  readonly encrypted_content?: string
  readonly arguments?: string
  readonly output?: string
}

const textOf = (content: Part['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')
const said = (role: string | undefined, words: string): string[] => (words === '' ? [] : [`${role}: ${words}`])

const anthropic: LoopUpstream = {
  name: 'anthropic',
  model: 'claude-haiku-4-5',
  namespace: (origin) => ({ provider: 'anthropic', config: { baseUrl: origin, apiKey: '${env:KEY}' } }),
  reply(turn) {
    const blocks = [thinking(stateOf(turn.number), THOUGHTS), tool(newId('toolu'), 'look', argumentsOf(turn))]
    const { whole, stream } = turn.isLast ? message([text(DONE)]) : message(blocks, { stop_reason: 'tool_use' })
    return turn.stream ? sse(stream) : json(whole)
  },
  conversation: (body) =>
    (body as { messages: Part[] }).messages.flatMap(({ role, content }) => {
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content!
      return parts.flatMap((part: Part) => {
        if (part.type === 'thinking') return [`state ${part.signature}`]
        if (part.type === 'tool_use') return [`call ${part.name} ${JSON.stringify(part.input)}`]
        return part.type === 'tool_result' ? [`result ${textOf(part.content)}`] : said(role, part.text!)
      })
    }),
}

const bedrock: LoopUpstream = {
  name: 'bedrock',
  model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  namespace: (origin) => ({
    provider: 'bedrock',
    // Clients of the Messages API would reach Claude itself.
    config: { region: 'us-east-1', baseUrl: origin, apiKey: '${env:KEY}', facts: { '*': { messages: 'none' } } },
  }),
  reply(turn) {
    const { number, isLast } = turn
    const stopReason = isLast ? 'end_turn' : 'tool_use'
    const usage = { inputTokens: 12, outputTokens: 7, totalTokens: 19 }
    const toolUse = { toolUseId: newId('tooluse'), name: 'look' }
    const blocks = isLast
      ? [{ whole: { text: DONE }, deltas: [{ text: DONE }] }]
      : [
          {
            whole: { reasoningContent: { reasoningText: { text: THOUGHTS, signature: stateOf(number) } } },
            deltas: [{ reasoningContent: { text: THOUGHTS } }, { reasoningContent: { signature: stateOf(number) } }],
          },
          {
            whole: { toolUse: { ...toolUse, input: { at: number } } },
            start: { toolUse },
            deltas: [{ toolUse: { input: argumentsOf(turn) } }],
          },
        ]
    const message = { role: 'assistant', content: blocks.map(({ whole }) => whole) }
    if (!turn.stream) return json({ output: { message }, stopReason, usage, metrics: { latencyMs: 1 } })
    const frames = [
      frame({ messageStart: { role: 'assistant' } }),
      ...blocks.flatMap((block, contentBlockIndex) => [
        ...('start' in block ? [frame({ contentBlockStart: { contentBlockIndex, start: block.start } })] : []),
        ...block.deltas.map((delta) => frame({ contentBlockDelta: { contentBlockIndex, delta } })),
        frame({ contentBlockStop: { contentBlockIndex } }),
      ]),
      frame({ messageStop: { stopReason } }),
      frame({ metadata: { usage, metrics: { latencyMs: 1 } } }),
    ]
    return sse(frames, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
  },
  conversation: (body) =>
    (body as { messages: { role: string; content: Part[] }[] }).messages.flatMap(({ role, content }) =>
      content.flatMap(({ reasoningContent, toolUse, toolResult, text: words }) => {
        if (reasoningContent) return [`state ${reasoningContent.reasoningText.signature}`]
        if (toolUse) return [`call ${toolUse.name} ${JSON.stringify(toolUse.input)}`]
        return toolResult ? [`result ${textOf(toolResult.content)}`] : said(role, words!)
      }),
    ),
}

const google: LoopUpstream = {
  name: 'gemini',
  model: 'gemini-3-flash-preview',
  namespace: (origin) => ({ provider: 'gemini', config: { baseUrl: origin, apiKey: '${env:KEY}' } }),
  reply({ number, isLast, stream }) {
    const signed = call('look', { at: number }, { thoughtSignature: stateOf(number) })
    const sent = gemini(isLast ? [{ text: DONE }] : [thought(THOUGHTS), signed], { responseId: newId('r').slice(0, 24) })
    return stream ? sse(sent.stream) : json(sent.whole)
  },
  conversation: (body) =>
    (body as { contents: Part[] }).contents.flatMap(({ role, parts }) =>
      parts!.flatMap(({ functionCall, functionResponse, thoughtSignature, text: words }) => {
        if (functionResponse) return [`result ${functionResponse.response.output}`]
        if (functionCall === undefined) return said(role === 'model' ? 'assistant' : role, words!)
        return [`state ${thoughtSignature}`, `call ${functionCall.name} ${JSON.stringify(functionCall.args)}`]
      }),
    ),
}

const googleByInteractions: LoopUpstream = {
  name: 'gemini by interactions',
  model: 'gemini-3.6-flash',
  namespace: (origin) => ({ provider: 'gemini', config: { baseUrl: origin, apiKey: '${env:KEY}', api: 'interactions' } }),
  reply({ number, isLast, stream }) {
    const called = interactions.call(newId('call'), 'look', { at: number })
    const sent = interactions.interaction(
      isLast ? [interactions.output(DONE)] : [interactions.thought(stateOf(number), THOUGHTS), called],
    )
    return stream ? sse(sent.stream) : json(sent.whole)
  },
  conversation: (body) =>
    (body as { input: Part[] }).input.flatMap((step) => {
      if (step.type === 'thought') return [`state ${step.signature}`]
      if (step.type === 'function_call') return [`call ${step.name} ${JSON.stringify(step.arguments)}`]
      if (step.type === 'function_result') return [`result ${step.result}`]
      return said(step.type === 'model_output' ? 'assistant' : 'user', textOf(step.content))
    }),
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

/** A reply of chat completions. `thoughts`: the member `reasoning_content`, which the upstream wants back. */
function chatReply(turn: Turn, thoughts?: string): Script {
  const { isLast, stream } = turn
  const finish = isLast ? 'stop' : 'tool_calls'
  const called = { id: newId('call'), type: 'function', function: { name: 'look', arguments: argumentsOf(turn) } }
  const reasoning = thoughts === undefined ? {} : { reasoning_content: thoughts }
  const spoken = isLast ? { content: DONE } : { content: null, ...reasoning }
  if (!stream) {
    const message = { role: 'assistant', ...spoken, ...(!isLast && { tool_calls: [called] }) }
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
    const choices = [{ index: 0, message, finish_reason: finish }]
    return json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage })
  }
  const calls = isLast ? [] : [chunk({ tool_calls: [{ index: 0, ...called }] })]
  return sse([chunk({ role: 'assistant', ...spoken }), ...calls, chunk({}, finish), 'data: [DONE]\n\n'])
}

const chatConversation = (body: unknown): string[] =>
  (body as { messages: Part[] }).messages.flatMap(({ role, content, reasoning_content: thoughts, tool_calls: calls = [] }) =>
    role === 'tool'
      ? [`result ${textOf(content)}`]
      : [
          ...(thoughts === undefined ? [] : [`state ${thoughts}`]),
          ...said(role, textOf(content)),
          ...calls.map(({ function: { name, arguments: text } }) => `call ${name} ${text}`),
        ],
  )

/** A response of OpenAI that is not stored: its reasoning is encrypted. */
function response(turn: Turn): Script {
  const { number, isLast, stream } = turn
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' }
  const output = isLast
    ? [{ ...message, content: [{ type: 'output_text', text: DONE, annotations: [] }] }]
    : [
        { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: stateOf(number) },
        { type: 'function_call', id: `fc_${number}`, call_id: newId('call'), name: 'look', arguments: argumentsOf(turn) },
      ]
  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 }
  const whole = { id: `resp_${number}`, object: 'response', status: 'completed', error: null, output, usage }
  if (!stream) return json(whole)
  const begun = { type: 'response.created', sequence_number: 0, response: { ...whole, status: 'in_progress', output: [] } }
  const ended = { type: 'response.completed', sequence_number: 1, response: whole }
  return sse([begun, ended].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
}

const openai: LoopUpstream = {
  name: 'openai',
  model: 'gpt-5',
  namespace: (origin) => ({
    provider: 'openai-compatible',
    config: { baseUrl: `${origin}/v1`, apiKey: '${env:KEY}', responses: true },
  }),
  // OpenAI shows no reasoning in chat completions.
  stateless: ['chat completions', FORGETFUL, 'messages'],
  reply: (turn) => (turn.protocol === 'responses' ? response(turn) : chatReply(turn)),
  conversation(body) {
    const { input } = body as { input?: Part[] }
    if (input === undefined) return chatConversation(body)
    return input.flatMap((item) => {
      if (item.type === 'reasoning') return [`state ${item.encrypted_content}`]
      if (item.type === 'function_call') return [`call ${item.name} ${item.arguments}`]
      return item.type === 'function_call_output' ? [`result ${item.output}`] : said(item.role, textOf(item.content))
    })
  },
}

/** A model that takes tools by its Responses API only. */
const openaiByResponses: LoopUpstream = {
  ...openai,
  name: 'openai by responses',
  model: 'gpt-6-astra',
  stateless: [],
  reply: response,
}

const open: LoopUpstream = {
  name: 'an upstream with reasoning_content',
  stateless: [FORGETFUL],
  model: 'deepseek-reasoner',
  namespace: (origin) => ({ provider: 'openai-compatible', config: { baseUrl: `${origin}/v1`, apiKey: '${env:KEY}' } }),
  reply: (turn) => chatReply(turn, stateOf(turn.number)),
  conversation: chatConversation,
}

/** One of each kind of state. */
export const LOOP_UPSTREAMS: readonly LoopUpstream[] = [
  anthropic,
  google,
  googleByInteractions,
  bedrock,
  openai,
  openaiByResponses,
  open,
]
