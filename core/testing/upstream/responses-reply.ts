import { finishOf, inPieces, type Said, type SaidTool } from './openai-reply.ts'
import { event } from './replies.ts'

/** What a model of OpenAI wants back of its reasoning. */
export const ENCRYPTED = 'gAAAAABencryptedThought'

/** An item of a response's output: complete, as its stream adds it, and the events between. */
interface Item {
  readonly whole: { readonly id: string; readonly [member: string]: unknown }
  readonly added: object
  readonly events: readonly { readonly type: string; readonly [member: string]: unknown }[]
}

function reasoning(text: string, count: number): Item {
  const head = { id: 'rs_1', type: 'reasoning' }
  const part = (piece: string) => ({ summary_index: 0, part: { type: 'summary_text', text: piece } })
  return {
    whole: { ...head, summary: [{ type: 'summary_text', text }], encrypted_content: ENCRYPTED, status: 'completed' },
    added: { ...head, summary: [], encrypted_content: '', status: 'in_progress' },
    events: [
      { type: 'response.reasoning_summary_part.added', ...part('') },
      ...inPieces(text, count).map((delta) => ({ type: 'response.reasoning_summary_text.delta', summary_index: 0, delta })),
      { type: 'response.reasoning_summary_text.done', summary_index: 0, text },
      { type: 'response.reasoning_summary_part.done', ...part(text) },
    ],
  }
}

function message(text: string, kind: 'output_text' | 'refusal', count: number): Item {
  const member = kind === 'refusal' ? 'refusal' : 'text'
  const more = kind === 'refusal' ? {} : { logprobs: [] }
  const part = (piece: string) => ({
    type: kind,
    [member]: piece,
    ...(kind === 'refusal' ? {} : { annotations: [], logprobs: [] }),
  })
  const whole = { id: `msg_${kind}`, type: 'message', role: 'assistant', status: 'completed', content: [part(text)] }
  return {
    whole,
    added: { ...whole, status: 'in_progress', content: [] },
    events: [
      { type: 'response.content_part.added', content_index: 0, part: part('') },
      ...inPieces(text, count).map((delta) => ({ type: `response.${kind}.delta`, content_index: 0, ...more, delta })),
      { type: `response.${kind}.done`, content_index: 0, ...more, [member]: text },
      { type: 'response.content_part.done', content_index: 0, part: part(text) },
    ],
  }
}

function call({ name, arguments: values, id }: SaidTool, index: number, count: number): Item {
  const text = JSON.stringify(values)
  const head = { id: `fc_${index}`, type: 'function_call', call_id: id ?? `call_${index}`, name }
  return {
    whole: { ...head, arguments: text, status: 'completed' },
    added: { ...head, arguments: '', status: 'in_progress' },
    events: [
      ...inPieces(text, count).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', name, arguments: text },
    ],
  }
}

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  error: null,
  incomplete_details: null,
  instructions: null,
  model: 'gpt-5-2026',
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  metadata: {},
}

const usageOf = ({ prompt_tokens = 12, completion_tokens = 7, prompt_tokens_details }: NonNullable<Said['usage']> = {}) => ({
  input_tokens: prompt_tokens,
  input_tokens_details: { cached_tokens: prompt_tokens_details?.cached_tokens ?? 0 },
  output_tokens: completion_tokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: prompt_tokens + completion_tokens,
})

/** Why a response is incomplete, by the finish reason of a chat completion. */
const REASONS: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' }

/** A reply of OpenAI's Responses API, whole and as the events of its stream, cut as `openaiReply` cuts (openai-openapi, `Response`, `ResponseStreamEvent`). */
export function responsesReply(says: Said, count = 2) {
  const { reasoning: thought, text, refusal, tools = [], usage } = says
  const items = [
    ...(thought === undefined ? [] : [reasoning(thought, count)]),
    ...(text === undefined ? [] : [message(text, 'output_text', count)]),
    ...(refusal === undefined ? [] : [message(refusal, 'refusal', count)]),
    ...tools.map((tool, index) => call(tool, index, count)),
  ]
  const reason = REASONS[finishOf(says)]
  const end = reason === undefined ? { status: 'completed' } : { status: 'incomplete', incomplete_details: { reason } }
  const whole = { ...RESPONSE, ...end, output: items.map((item) => item.whole), usage: usageOf(usage) }
  const begun = { response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } }
  const events = [
    { type: 'response.created', ...begun },
    { type: 'response.in_progress', ...begun },
    ...items.flatMap(({ whole: item, added, events: within }, output_index) => [
      { type: 'response.output_item.added', output_index, item: added },
      ...within.map((one) => ({ ...one, item_id: item.id, output_index })),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: `response.${whole.status}`, response: whole },
  ]
  return { whole, stream: events.map((one, sequence_number) => event({ ...one, sequence_number }, one.type)) }
}
