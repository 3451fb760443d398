import fc from 'fast-check'

const words = fc.oneof(fc.constantFrom('', ' ', '\n\t', 'Hello'), fc.string({ maxLength: 8 }))
const mark = fc.option(fc.constant({ mode: 'explicit' }), { nil: undefined })
const text = fc.record({ type: fc.constant('text'), text: words, prompt_cache_breakpoint: mark })
const name = fc.constantFrom('a.pdf', 'A (1).pdf', '분기.pdf', '')
const part = fc.oneof(
  { weight: 6, arbitrary: text },
  {
    weight: 3,
    arbitrary: fc.constantFrom('png', 'jpeg').map((type) => ({
      type: 'image_url',
      image_url: { url: `data:image/${type};base64,QUJD` },
    })),
  },
  {
    weight: 3,
    arbitrary: name.map((filename) => ({ type: 'file', file: { filename, file_data: 'data:application/pdf;base64,QUJD' } })),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }) },
  { weight: 1, arbitrary: fc.constant({ type: 'image_url', image_url: { url: 'https://a/b.png' } }) },
)
const content = fc.oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: fc.array(part, { maxLength: 3 }) })
const id = fc.oneof(fc.constantFrom('call_0', 'a:b', 'a.b', 'a_b', ''), fc.string({ maxLength: 80 }))

const sealed = fc.constantFrom(
  { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
  { reasoningContent: { redactedContent: 'QUJD' } },
)
const freight = fc.option(
  fc.record({
    bedrock: fc.record({
      model: fc.constantFrom('us.anthropic.claude-opus-4-7', 'other'),
      reasoning: fc.array(sealed, { maxLength: 2 }),
    }),
  }),
  { nil: undefined },
)

const turn = fc
  .record({
    role: fc.constantFrom('user', 'user', 'system', 'developer', 'assistant'),
    content,
  })
  .map((message) => [message])

/** An assistant message with tool calls, and the result of each, in any order. */
const toolStep = fc
  .record({
    content: words,
    calls: fc.array(fc.tuple(id, words, freight), { minLength: 1, maxLength: 4 }),
    shuffle: fc.nat(),
  })
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
      parameters: fc.constant({ type: 'object' }),
    },
    { requiredKeys: ['name'] },
  ),
})

/** Models of every kind that the provider tells apart. */
const MODELS = [
  'global.anthropic.claude-haiku-4-5-20251001-v1:0',
  'us.anthropic.claude-sonnet-4-6',
  'us.anthropic.claude-opus-4-7',
  'us.anthropic.claude-opus-5-5',
  'anthropic.claude-3-haiku-20240307-v1:0',
  'us.amazon.nova-2-lite-v1:0',
  'us.meta.llama3-3-70b-instruct-v1:0',
  'mistral.mistral-large-2402-v1:0',
  'openai.gpt-oss-120b-1:0',
  'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12cd34',
]

/** A chat completion request as OpenAI would take it, its model named as Bedrock has it. */
export const anyRequest = fc.record(
  {
    model: fc.constantFrom(...MODELS),
    messages: fc.array(fc.oneof(turn, toolStep), { minLength: 1, maxLength: 6 }).map((turns) => turns.flat()),
    max_tokens: fc.oneof(fc.integer({ min: 1, max: 50_000 }), fc.constant(null)),
    temperature: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constant(null)),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    stop: fc.oneof(words, fc.array(words, { maxLength: 4 })),
    tools: fc.array(tool, { maxLength: 2 }),
    tool_choice: fc.oneof(fc.constantFrom('none', 'auto', 'required', null), tool),
    parallel_tool_calls: fc.boolean(),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'high', 'max', null),
    response_format: fc.constantFrom(
      { type: 'text' },
      { type: 'json_schema', json_schema: { name: 'x', description: 'X.', schema: { type: 'object' } } },
    ),
    stream: fc.boolean(),
  },
  { requiredKeys: ['model', 'messages'] },
)
