/**
 * What the body of `POST /v1/chat/completions` must look like (openai-openapi, `CreateChatCompletionRequest`). Unknown fields pass:
 * they belong to the upstream. `null` counts as absent at the top level and is not checked.
 */

const string = { type: 'string' }
const boolean = { type: 'boolean' }
const object = { type: 'object' }
const number = (minimum: number, maximum: number) => ({ type: 'number', minimum, maximum })
const integer = (minimum: number, maximum?: number) => ({ type: 'integer', minimum, ...(maximum !== undefined && { maximum }) })
const oneOf = (...values: string[]) => ({ type: 'string', enum: values })
const shape = (properties: Record<string, object>, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})

/** By its `type`, what else a thing must have; types that are not listed pass as they are. */
const byType = (shapes: Record<string, object>) => ({
  ...shape({ type: string }),
  allOf: Object.entries(shapes).map(([type, then]) => ({ if: shape({ type: { const: type } }), then })),
})

const part = byType({
  text: shape({ text: string }),
  refusal: shape({ refusal: string }),
  image_url: shape({ image_url: shape({ url: string }) }),
  input_audio: shape({ input_audio: shape({ data: string, format: string }) }),
  file: shape({ file: { type: 'object', properties: { filename: string, file_data: string, file_id: string } } }),
})

const toolCall = {
  ...byType({
    function: shape({ function: shape({ name: string, arguments: string }) }),
    custom: shape({ custom: shape({ name: string, input: string }) }),
  }),
  ...shape({ id: string, type: string }),
}

const message = {
  type: 'object',
  required: ['role'],
  properties: {
    role: oneOf('developer', 'system', 'user', 'assistant', 'tool', 'function'),
    content: { type: ['string', 'array', 'null'], items: part },
    name: { type: ['string', 'null'] },
    refusal: { type: ['string', 'null'] },
    tool_calls: { type: ['array', 'null'], items: toolCall },
  },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
  allOf: [{ if: shape({ role: { const: 'tool' } }), then: shape({ tool_call_id: string, content: {} }) }],
}

const tool = byType({
  function: shape({
    function: { ...shape({ name: string }), properties: { name: string, parameters: { type: ['object', 'null'] } } },
  }),
})

const toolChoice = {
  type: string,
  function: shape({ name: string }),
  custom: shape({ name: string }),
  allowed_tools: shape({ mode: string, tools: { type: 'array', items: object } }),
}

/** JSON Schema, for ajv. */
export const chatRequestSchema = {
  type: 'object',
  required: ['model', 'messages'],
  properties: {
    model: string,
    messages: { type: 'array', minItems: 1, items: message },
    stream: boolean,
    stream_options: { type: 'object', properties: { include_usage: { type: ['boolean', 'null'] } } },
    temperature: number(0, 2),
    top_p: number(0, 1),
    frequency_penalty: number(-2, 2),
    presence_penalty: number(-2, 2),
    n: integer(1, 128),
    max_tokens: integer(0),
    max_completion_tokens: integer(0),
    stop: { type: ['string', 'array'], items: string },
    seed: { type: 'integer' },
    logit_bias: object,
    logprobs: boolean,
    top_logprobs: integer(0, 20),
    tools: { type: 'array', items: tool },
    tool_choice: { type: ['string', 'object'], properties: toolChoice },
    parallel_tool_calls: boolean,
    functions: { type: 'array', items: shape({ name: string }) },
    function_call: { type: ['string', 'object'] },
    response_format: byType({
      json_schema: shape({ json_schema: shape({ name: string, schema: { type: ['object', 'null'] } }, ['name']) }),
    }),
    reasoning_effort: string,
    verbosity: string,
    modalities: { type: 'array', items: string },
    audio: object,
    prediction: object,
    web_search_options: object,
    service_tier: string,
    store: boolean,
    metadata: object,
    user: string,
    safety_identifier: string,
    prompt_cache_key: string,
  },
} as const
