import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { ParameterFate } from 'unified-model-gateway/plugin'
import { parameters } from '../../../../plugins/providers/bedrock/parameters.ts'
import { translate, upstream } from './support.ts'

const TOOL = { type: 'function', function: { name: 'look' } }
const SPEC = { toolSpec: { name: 'look', inputSchema: { json: { type: 'object', properties: {} } } } }
const SCHEMA = { type: 'object', properties: {}, additionalProperties: false }

/** Per mapped parameter of the body: a request that uses it, and what of it must arrive. */
const ARRIVES: Readonly<Record<string, readonly [body: Record<string, unknown>, expected: object]>> = {
  messages: [{ messages: [{ role: 'user', content: 'Hi' }] }, { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
  stream_options: [{ stream: true, stream_options: { include_usage: true } }, {}],
  max_tokens: [{ max_tokens: 9 }, { inferenceConfig: { maxTokens: 9 } }],
  max_completion_tokens: [{ max_completion_tokens: 9, max_tokens: 5 }, { inferenceConfig: { maxTokens: 9 } }],
  temperature: [{ temperature: 0.5 }, { inferenceConfig: { temperature: 0.5 } }],
  top_p: [{ top_p: 0.5 }, { inferenceConfig: { topP: 0.5 } }],
  stop: [{ stop: 'END' }, { inferenceConfig: { stopSequences: ['END'] } }],
  tools: [{ tools: [TOOL] }, { toolConfig: { tools: [SPEC] } }],
  tool_choice: [{ tools: [TOOL], tool_choice: 'required' }, { toolConfig: { tools: [SPEC], toolChoice: { any: {} } } }],
  parallel_tool_calls: [
    { tools: [TOOL], parallel_tool_calls: false },
    { additionalModelRequestFields: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } },
  ],
  response_format: [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } } },
    {
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: JSON.stringify(SCHEMA), name: 'answer' } } },
      },
    },
  ],
  reasoning_effort: [
    { reasoning_effort: 'low' },
    { additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } } },
  ],
}

/** What of the path says so. */
const IN_THE_PATH: Readonly<Record<string, readonly [body: Record<string, unknown>, path: string]>> = {
  model: [{ model: 'amazon.nova-pro-v1:0' }, '/model/amazon.nova-pro-v1%3A0/converse'],
  stream: [{ model: 'm', stream: true }, '/model/m/converse-stream'],
}

/** A value that means something, for each parameter that is left out or refused. */
const VALUES: Readonly<Record<string, unknown>> = {
  frequency_penalty: 1,
  presence_penalty: 1,
  seed: 7,
  verbosity: 'low',
  prediction: { type: 'content', content: 'x' },
  service_tier: 'flex',
  store: true,
  metadata: { team: 'a' },
  user: 'u-1',
  safety_identifier: 's-1',
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  prompt_cache_options: { mode: 'implicit' },
  n: 2,
  logprobs: true,
  top_logprobs: 3,
  logit_bias: { 50256: -100 },
  modalities: ['text', 'audio'],
  audio: { voice: 'alloy', format: 'mp3' },
  functions: [{ name: 'look' }],
  function_call: 'auto',
  web_search_options: {},
  moderation: { model: 'm' },
}

const named = (fate: ParameterFate['fate']) => Object.keys(parameters).filter((name) => parameters[name]?.fate === fate)

describe('bedrock: what becomes of each parameter', () => {
  for (const [name, [body, expected]] of Object.entries(ARRIVES)) {
    it(`${name} arrives`, async () => expect(await translate(body)).to.deep.include(expected))
  }

  for (const [name, [body, path]] of Object.entries(IN_THE_PATH)) {
    it(`${name} arrives in the path`, async () => expect((await upstream(body)).path).to.equal(path))
  }

  for (const name of [...named('dropped'), ...named('refused')]) {
    it(`${name} has no part in what is sent`, async () => {
      expect(VALUES).to.have.property(name)
      const call = { max_tokens: 9, logprobs: name === 'top_logprobs' ? true : undefined }
      expect(await translate({ ...call, [name]: VALUES[name] })).to.deep.equal(await translate({ max_tokens: 9 }))
    })
  }

  it('every parameter of the test is in the table', () => {
    expect(named('mapped')).to.have.members([...Object.keys(ARRIVES), ...Object.keys(IN_THE_PATH)])
    expect([...named('dropped'), ...named('refused')]).to.have.members(Object.keys(VALUES))
  })

  it('what is refused says what to do instead', () => {
    for (const name of named('refused')) expect(parameters[name], name).to.have.property('why').that.matches(/\.$/)
  })

  it('the page lists every parameter with its fate', () => {
    const page = readFileSync(new URL('../../../../docs/providers/bedrock.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `(\w+)` \| (mapped|dropped|refused) \| (.*) \|$/gm)]
    const listed = Object.fromEntries(rows.map(([, name, fate, words]) => [name, [fate, words?.replaceAll('`', '')]]))
    const expected = Object.entries(parameters).map(([name, fate]) => [name, [fate.fate, wordsOf(fate)]])
    expect(listed).to.deep.equal(Object.fromEntries(expected))
  })
})

function wordsOf(fate: ParameterFate): string {
  if (fate.fate === 'dropped') return ''
  return (fate.fate === 'mapped' ? fate.to : (fate.why ?? '')).replaceAll('`', '')
}
