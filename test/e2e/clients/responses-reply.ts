import { event, type Said } from '../../../core/testing/kit.ts'
import { halves } from '../../../core/testing/upstream/openai-reply.ts'

/** What a model of OpenAI wants back of its reasoning. */
export const ENCRYPTED = 'gAAAAABencryptedThought'

/** An item of a response's output: complete, as its stream adds it, and the events between. */
interface Item {
  readonly whole: { readonly id: string; readonly [member: string]: unknown }
  readonly added: object
  readonly events: readonly { readonly type: string; readonly [member: string]: unknown }[]
}

function reasoning(text: string): Item {
  const whole = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text }], encrypted_content: ENCRYPTED }
  const part = (piece: string) => ({ summary_index: 0, part: { type: 'summary_text', text: piece } })
  return {
    whole,
    added: { ...whole, summary: [], encrypted_content: '' },
    events: [
      { type: 'response.reasoning_summary_part.added', ...part('') },
      ...halves(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', summary_index: 0, delta })),
      { type: 'response.reasoning_summary_text.done', summary_index: 0, text },
      { type: 'response.reasoning_summary_part.done', ...part(text) },
    ],
  }
}

function message(text: string): Item {
  const part = (piece: string) => ({ type: 'output_text', text: piece, annotations: [], logprobs: [] })
  const whole = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part(text)] }
  const inPart = { content_index: 0, logprobs: [] }
  return {
    whole,
    added: { ...whole, status: 'in_progress', content: [] },
    events: [
      { type: 'response.content_part.added', content_index: 0, part: part('') },
      ...halves(text).map((delta) => ({ type: 'response.output_text.delta', ...inPart, delta })),
      { type: 'response.output_text.done', ...inPart, text },
      { type: 'response.content_part.done', content_index: 0, part: part(text) },
    ],
  }
}

function call({ name, arguments: values }: NonNullable<Said['tools']>[number], index: number): Item {
  const text = JSON.stringify(values)
  const head = { id: `fc_${index}`, type: 'function_call', call_id: `call_${index}`, name }
  return {
    whole: { ...head, arguments: text, status: 'completed' },
    added: { ...head, arguments: '', status: 'in_progress' },
    events: [
      ...halves(text).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
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

const USAGE = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 19,
}

/** A reply of OpenAI's Responses API, whole and as the events of its stream (openai-openapi, `Response`, `ResponseStreamEvent`). */
export function responsesReply({ reasoning: thought, text, tools = [] }: Said) {
  const items = [
    ...(thought === undefined ? [] : [reasoning(thought)]),
    ...(text === undefined ? [] : [message(text)]),
    ...tools.map(call),
  ]
  const whole = { ...RESPONSE, status: 'completed', output: items.map((item) => item.whole), usage: USAGE }
  const begun = { response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } }
  const events = [
    { type: 'response.created', ...begun },
    { type: 'response.in_progress', ...begun },
    ...items.flatMap(({ whole: item, added, events: within }, output_index) => [
      { type: 'response.output_item.added', output_index, item: added },
      ...within.map((one) => ({ ...one, item_id: item.id, output_index })),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: whole },
  ]
  return { whole, stream: events.map((one, sequence_number) => event({ ...one, sequence_number }, one.type)) }
}
