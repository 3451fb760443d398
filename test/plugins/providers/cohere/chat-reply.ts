import { event } from './support.ts'

/** A part of a reply, whole and as the events of its stream. */
export interface Part {
  readonly whole: { readonly content?: object; readonly tool_plan?: string; readonly tool_calls?: object }
  events(index: number): readonly object[]
}

/** A text or a thought. */
export const content = (type: 'text' | 'thinking', ...pieces: readonly string[]): Part => ({
  whole: { content: { type, [type]: pieces.join('') } },
  events: (index) => [
    { type: 'content-start', index, delta: { message: { content: { type, [type]: '' } } } },
    ...pieces.map((piece) => ({ type: 'content-delta', index, delta: { message: { content: { [type]: piece } } } })),
    { type: 'content-end', index },
  ],
})

/** What the model says before it calls. */
export const plan = (...pieces: readonly string[]): Part => ({
  whole: { tool_plan: pieces.join('') },
  events: () => pieces.map((tool_plan) => ({ type: 'tool-plan-delta', delta: { message: { tool_plan } } })),
})

/** A tool call. */
export const tool = (id: string, name: string, ...pieces: readonly string[]): Part => {
  const call = (json: string) => ({ id, type: 'function', function: { name, arguments: json } })
  return {
    whole: { tool_calls: call(pieces.join('')) },
    events: (index) => [
      { type: 'tool-call-start', index, delta: { message: { tool_calls: call('') } } },
      ...pieces.map((piece) => ({
        type: 'tool-call-delta',
        index,
        delta: { message: { tool_calls: { function: { arguments: piece } } } },
      })),
      { type: 'tool-call-end', index },
    ],
  }
}

/** The usage of a reply. */
export const USAGE = { billed_units: { input_tokens: 3, output_tokens: 6 }, tokens: { input_tokens: 12, output_tokens: 7 } }

/** A reply of the Chat API, whole and as the events of a stream. */
export function reply(parts: readonly Part[], finish_reason = 'COMPLETE', usage: object = USAGE) {
  const { content, tool_plan, tool_calls } = Object.groupBy(parts, ({ whole }) => Object.keys(whole)[0]!)
  const message = {
    role: 'assistant',
    ...(content && { content: content.map(({ whole }) => whole.content) }),
    ...(tool_plan && { tool_plan: tool_plan[0]!.whole.tool_plan }),
    ...(tool_calls && { tool_calls: tool_calls.map(({ whole }) => whole.tool_calls) }),
  }
  return {
    whole: { id: 'c14c80c3', finish_reason, message, usage },
    stream: [
      { id: 'c14c80c3', type: 'message-start', delta: { message: { role: 'assistant' } } },
      ...parts.flatMap((part) => {
        const [kind] = Object.keys(part.whole) as ['content' | 'tool_plan' | 'tool_calls']
        return part.events(parts.filter(({ whole }) => kind in whole).indexOf(part))
      }),
      { type: 'message-end', delta: { finish_reason, usage } },
    ].map(event),
  }
}
