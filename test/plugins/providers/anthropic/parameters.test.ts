import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { ParameterFate } from 'unified-model-gateway/plugin'
import { parameters } from '../../../../plugins/providers/anthropic/parameters.ts'
import type { MessagesRequest } from '../../../../plugins/providers/anthropic/wire.ts'
import { translate } from './support.ts'

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
const SCHEMA = { type: 'object', properties: {}, additionalProperties: false }

/** Per mapped parameter: a request that uses it, and what of it must arrive. */
const ARRIVES: Readonly<Record<string, readonly [body: Record<string, unknown>, expected: Partial<MessagesRequest>]>> = {
  model: [{ model: 'claude/claude-opus-4-5' }, { model: 'claude-opus-4-5' }],
  messages: [
    { messages: [{ role: 'user', content: 'Hi' }] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  ],
  stream: [{ stream: true }, { stream: true }],
  stream_options: [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
  max_tokens: [{ max_tokens: 9 }, { max_tokens: 9 }],
  max_completion_tokens: [{ max_completion_tokens: 9 }, { max_tokens: 9 }],
  temperature: [{ temperature: 0.5 }, { temperature: 0.5 }],
  top_p: [{ top_p: 0.5 }, { top_p: 0.5 }],
  stop: [{ stop: ['END'] }, { stop_sequences: ['END'] }],
  tools: [{ tools: [TOOL] }, { tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }] }],
  tool_choice: [{ tools: [TOOL], tool_choice: 'required' }, { tool_choice: { type: 'any' } }],
  parallel_tool_calls: [
    { tools: [TOOL], parallel_tool_calls: false },
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  response_format: [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } } },
    { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
  ],
  reasoning_effort: [{ reasoning_effort: 'low', max_tokens: 10_000 }, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
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

describe('anthropic: what becomes of each parameter', () => {
  for (const name of named('mapped')) {
    it(`${name} arrives`, async () => {
      const [body, expected] = ARRIVES[name]!
      const request = await translate(body)
      expect(request).to.deep.include(expected)
    })
  }

  for (const name of [...named('dropped'), ...named('refused')]) {
    it(`${name} has no part in what is sent`, async () => {
      expect(VALUES).to.have.property(name)
      expect(await translate({ [name]: VALUES[name] })).to.deep.equal(await translate({}))
    })
  }

  it('every parameter of the test is in the table', () => {
    expect(Object.keys(parameters)).to.have.members([...Object.keys(ARRIVES), ...Object.keys(VALUES)])
  })

  it('what is refused says what to do instead', () => {
    for (const name of named('refused')) expect(parameters[name], name).to.have.property('why').that.matches(/\.$/)
  })

  it('the page lists every parameter with its fate', () => {
    const page = readFileSync(new URL('../../../../docs/providers/anthropic.md', import.meta.url), 'utf8')
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
