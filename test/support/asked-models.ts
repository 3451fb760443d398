import type { Asked } from 'unified-model-gateway/plugin/testing'

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} }, strict: true } }
const SCHEMA = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'], additionalProperties: false }

/** What models differ in: the fields of a request for each. */
const DIFFERENCES: Readonly<Record<string, Asked>> = {
  'sampling, cache marks and a tool that is to be called': {
    temperature: 0.3,
    top_p: 0.9,
    cache_control: { type: 'ephemeral' },
    tools: [TOOL],
    tool_choice: 'required',
  },
  'high reasoning': { reasoning_effort: 'high', max_tokens: 10_000, tools: [TOOL] },
  'no reasoning': { reasoning_effort: 'none', temperature: 0.5, tools: [TOOL], tool_choice: 'required' },
  'a schema': { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA, strict: true } } },
}

/** Calls for the conformance suite, in which models of one provider differ. `models`: their upstream names. */
export function askedOf(models: readonly string[]): Readonly<Record<string, Asked>> {
  const each = models.flatMap((model) =>
    Object.entries(DIFFERENCES).map(([title, fields]) => [`${title}, of ${model}`, { ...fields, model }] as const),
  )
  return Object.fromEntries(each)
}
