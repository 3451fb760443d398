import fc from 'fast-check'
import { DONE, event } from '../../../core/testing/kit.ts'

/** A tool call of a stream, and the pieces of its arguments. */
interface Call {
  readonly name: string
  readonly input: object
  readonly pieces: readonly string[]
  readonly signature: string | undefined
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })

const call: fc.Arbitrary<Call> = fc
  .record({
    name: fc.constantFrom('look', 'wait'),
    input: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()), { maxKeys: 3 }),
    cuts: fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
    signature: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  })
  .map(({ name, input, cuts, signature }) => {
    const json = JSON.stringify(input)
    const edges = [0, ...cuts.filter((cut) => cut < json.length).sort((a, b) => a - b), json.length]
    const pieces = edges.slice(1).map((edge, index) => json.slice(edges[index], edge))
    return { name, input, pieces, signature }
  })

/** What an upstream says, and in which order the parts of its calls come. */
export const reply = fc.record({
  words: fc.array(fc.tuple(fc.constantFrom('content', 'reasoning_content', 'reasoning', 'refusal'), text), { maxLength: 6 }),
  calls: fc.array(call, { maxLength: 3 }),
  /** Texts among the parts of the calls. */
  between: fc.array(text, { maxLength: 2 }),
  order: fc.infiniteStream(fc.nat()),
  usage: fc.boolean(),
})

/** A reply of an upstream that speaks OpenAI's protocol. */
export type Reply = typeof reply extends fc.Arbitrary<infer Value> ? Value : never

/** The events of a reply; the parts of its calls are interleaved. */
export function eventsOf({ words, calls, between, order, usage }: Reply): string[] {
  const starts = calls.map(({ name, signature }, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: '' },
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  }))
  const lanes = [
    ...calls.map(({ pieces }, index) => [
      { tool_calls: [starts[index]] },
      ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    between.map((content) => ({ content })),
  ]
  const deltas: object[] = words.map(([member, piece]) => ({ [member]: piece }))
  while (lanes.some((lane) => lane.length > 0)) {
    const open = lanes.filter((lane) => lane.length > 0)
    deltas.push(open[order.next().value! % open.length]!.shift()!)
  }
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({ ...head, choices: [{ index: 0, delta, finish_reason }] })
  const tokens = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13, prompt_tokens_details: { cached_tokens: 2 } }
  return [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(usage ? [event({ ...head, choices: [], usage: tokens })] : []),
    DONE,
  ]
}
