/** What models say, for properties of protocols. */
import fc from 'fast-check'
import type { ChatCompletion, FunctionToolCall, KeptTurn } from '../../../core/sdk/api.ts'

/** Words, also of letters that are several code points. */
export const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })

/** The URL of a file. (`fc.webUrl` takes a second to be made.) */
export const url = fc
  .tuple(fc.domain(), fc.stringMatching(/^[\w.~!$&'()*+,;=:@/?#-]{0,20}$/))
  .map(([host, path]) => `https://${host}/${path}`)

const extra = fc.record({ google: fc.record({ thought_signature: text }) })

/** A call of one of these tools, with or without thinking state. `valuesOf`: its arguments, with a text of the model's. */
export const callOf = (names: readonly string[], valuesOf: (name: string, says: string) => object) =>
  fc
    .record({ name: fc.constantFrom(...names), says: text, extra: fc.option(extra, { nil: undefined }) })
    .map(({ name, says, extra: state }): FunctionToolCall => {
      const called = { name, arguments: JSON.stringify(valuesOf(name, says)) }
      return { id: '', type: 'function', function: called, ...(state && { extra_content: state }) }
    })

/** Who makes the state of turns. */
export const OWNER = { name: 'vendor', model: 'm' }

/** Entries of `reasoning_details`. */
const details = fc
  .array(fc.record({ type: fc.constantFrom('reasoning.text', 'reasoning.encrypted'), text, signature: fc.option(text) }), {
    maxLength: 3,
  })
  .map((all) => all.map((each, index) => ({ ...each, index })))

/** What a model says in one turn. `id`: the prefix of the ids of its calls. */
export const turnOf = (call: fc.Arbitrary<FunctionToolCall>, id: string) =>
  fc.record({
    content: fc.option(text),
    refusal: fc.option(text),
    reasoning: fc.option(fc.tuple(fc.constantFrom('reasoning_content', 'reasoning'), text), { nil: undefined }),
    details,
    calls: fc.array(call, { maxLength: 3 }).map((calls) => calls.map((one, index) => ({ ...one, id: `${id}_${index}` }))),
  })

/** A turn. */
export type Said = ReturnType<typeof turnOf> extends fc.Arbitrary<infer Value> ? Value : never

/** The completion of a turn. */
export function completionOf({ content, refusal, calls, ...thought }: Said): ChatCompletion {
  const said = { role: 'assistant' as const, content, refusal, ...thoughtsOf(thought) }
  const own = { ...said, ...(calls.length > 0 && { tool_calls: calls }) }
  const choice = { index: 0, message: own, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop', logprobs: null } as const
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }
}

const thoughtsOf = ({ reasoning, details }: Pick<Said, 'reasoning' | 'details'>) => ({
  ...(reasoning && { [reasoning[0]]: reasoning[1] }),
  ...(details.length > 0 && { reasoning_details: details }),
})

/** The members of a message that an upstream without a name of its own gets back. */
export function keptOf(said: Said): { readonly extra_content?: { readonly umg: KeptTurn } } {
  const message = thoughtsOf(said)
  const extras = said.calls.flatMap(({ extra_content: state }, index) => (state === undefined ? [] : [[index, state]]))
  if (Object.keys(message).length === 0 && extras.length === 0) return {}
  const calls = extras.length > 0 && { calls: Object.fromEntries(extras) }
  return { extra_content: { umg: { owner: OWNER.name, model: OWNER.model, message, ...calls } } }
}

/** Calls without their state. */
export const withoutState = (calls: Said['calls']): object[] => calls.map(({ extra_content: _, ...call }) => call)
