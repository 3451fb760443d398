import fc from 'fast-check'

const words = fc.oneof(fc.constantFrom('', ' ', '\n\t', 'Hello', '{"at":"sea"}', 'null'), fc.string({ maxLength: 8 }))
const text = fc.record({ type: fc.constant('text'), text: words })
const image = fc.record({
  type: fc.constant('image_url'),
  image_url: fc.record(
    {
      url: fc.constantFrom('data:image/png;base64,QUJD', 'https://a.example/b.png'),
      detail: fc.constantFrom('auto', 'low', 'high', 'original'),
    },
    { requiredKeys: ['url'] },
  ),
})
const part = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 3, arbitrary: image },
  { weight: 1, arbitrary: fc.constant({ type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }) },
)
const content = fc.oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: fc.array(part, { maxLength: 3 }) })
const id = fc.oneof(fc.constantFrom('call_0', 'call_0_2', 'a', ''), fc.string({ maxLength: 40 }))
const freight = fc.option(fc.record({ cohere: fc.record({ tool_plan: words, thinking: words }, { requiredKeys: [] }) }), {
  nil: undefined,
})

const turn = fc
  .record({ role: fc.constantFrom('user', 'user', 'system', 'developer', 'assistant'), content })
  .map((message) => [message])

/** An assistant message with tool calls, and the result of each, in any order. */
const toolStep = fc
  .record({ content: words, calls: fc.array(fc.tuple(id, words, freight), { minLength: 1, maxLength: 4 }), shuffle: fc.nat() })
  .map(({ content, calls, shuffle }) => {
    const tool_calls = calls.map(([id, text, extra_content]) => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: text },
      ...(extra_content && { extra_content }),
    }))
    const results = calls.map(([id], index) => ({ role: 'tool', tool_call_id: id, content: index % 2 ? '' : 'Blue' }))
    const turned = [...results.slice(shuffle % results.length), ...results.slice(0, shuffle % results.length)]
    return [{ role: 'assistant', content, tool_calls }, ...turned]
  })

const tool = fc.record({
  type: fc.constant('function'),
  function: fc.record(
    {
      name: fc.constantFrom('look', 'listen'),
      description: words,
      strict: fc.boolean(),
      parameters: fc.constant({ type: 'object', required: [] }),
    },
    { requiredKeys: ['name'] },
  ),
})

const penalty = fc.oneof(fc.double({ min: -2, max: 2, noNaN: true }), fc.constant(null))

/** A chat completion request as OpenAI would take it, its model named as Cohere has it. */
export const anyRequest = fc.record(
  {
    model: fc.constantFrom('command-a-plus-05-2026', 'command-a-03-2025', 'command-r-plus-08-2024', 'a-model-yet-to-come'),
    messages: fc.array(fc.oneof(turn, toolStep), { minLength: 1, maxLength: 6 }).map((turns) => turns.flat()),
    max_tokens: fc.oneof(fc.integer({ min: 1, max: 50_000 }), fc.constant(null)),
    temperature: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constant(null)),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    seed: fc.oneof(fc.maxSafeInteger(), fc.constant(null)),
    frequency_penalty: penalty,
    presence_penalty: penalty,
    stop: fc.oneof(words, fc.array(words, { maxLength: 4 }), fc.constant(null)),
    tools: fc.array(tool, { maxLength: 2 }),
    tool_choice: fc.oneof(fc.constantFrom('none', 'auto', 'required', null), tool),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'high', 'max', null),
    response_format: fc.constantFrom(
      { type: 'text' },
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'x', description: 'X.', schema: { type: 'object' } } },
    ),
    stream: fc.boolean(),
  },
  { requiredKeys: ['model', 'messages'] },
)
