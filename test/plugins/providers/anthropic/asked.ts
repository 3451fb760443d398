import { Secret } from 'unified-model-gateway/plugin'
import type { Asked, RequestsFixture } from 'unified-model-gateway/plugin/testing'

const MODEL = 'claude-haiku-4-5'
const THOUGHT = { type: 'thinking', thinking: 'The weather?', signature: 'c2lnbmVk' }
const REDACTED = { type: 'redacted_thinking', data: 'c2VjcmV0' }

/** A tool call that keeps the thinking before it. */
const call = (id: string, anthropic?: unknown) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...(anthropic !== undefined && { extra_content: { anthropic } }),
})

/** The results of calls whose thinking comes back. */
function after(states: readonly unknown[], more: object = {}): Asked {
  const calls = states.map((state, index) => call(`call_${index}`, state))
  return {
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'I look.', tool_calls: calls },
      ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain.' })),
    ],
    tools: [{ type: 'function', function: { name: 'look' } }],
    reasoning_effort: 'low',
    max_tokens: 10_000,
    ...more,
  }
}

/** Thinking that a client sends back, which only its own model takes. */
const THINKING: Readonly<Record<string, Asked>> = {
  'thinking of this model': after([{ model: MODEL, thinking: [THOUGHT] }]),
  'thinking of this model by its date': after([{ model: `${MODEL}-20251001`, thinking: [THOUGHT] }]),
  'thinking of this model by other names of it': after([
    { model: `${MODEL}-latest`, thinking: [THOUGHT] },
    { model: `${MODEL}-0`, thinking: [THOUGHT] },
  ]),
  'thinking of another model': after([{ model: 'claude-opus-4-8', thinking: [THOUGHT] }]),
  'thinking of an unnamed model': after([{ thinking: [THOUGHT] }]),
  'redacted thinking, and thinking between calls': after([
    { model: MODEL, thinking: [REDACTED] },
    { model: MODEL, thinking: [THOUGHT, REDACTED] },
  ]),
  'invalid thinking': after([
    { model: MODEL, thinking: [null, { type: 'text', text: 'No.' }, { type: 'thinking' }, { ...THOUGHT, signature: 7 }] },
    {
      model: MODEL,
      thinking: [
        { type: 'redacted_thinking', data: 7 },
        { ...THOUGHT, thinking: 7 },
      ],
    },
    { model: MODEL, thinking: 'No.' },
    'No.',
  ]),
  'thinking, without a reasoning effort': after([{ model: MODEL, thinking: [THOUGHT] }], { reasoning_effort: null }),
  'redacted thinking, before a tool that is to be called': after([{ model: MODEL, thinking: [REDACTED] }], {
    tool_choice: 'required',
  }),
}

const effort = (model: string, reasoning_effort: string): Asked => ({ model, reasoning_effort, temperature: 0.5 })

/** Efforts of the models that take them in other ways. */
const EFFORTS: Readonly<Record<string, Asked>> = Object.fromEntries(
  ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-opus-5', 'claude-opus-4-6', 'claude-3-5-haiku-20241022'].flatMap((model) => [
    ...['none', 'minimal', 'medium', 'xhigh', 'max'].map(
      (each) => [`the effort ${each}, of ${model}`, effort(model, each)] as const,
    ),
    [
      `thinking and the effort none, of ${model}`,
      after([{ model, thinking: [THOUGHT] }], { model, reasoning_effort: 'none' }),
    ] as const,
    [`thinking, of ${model}`, after([{ model, thinking: [THOUGHT] }], { model, reasoning_effort: null })] as const,
  ]),
)

/** Chat completion requests to Anthropic, by title. */
export const ASKED: Readonly<Record<string, Asked>> = { ...THINKING, ...EFFORTS }

const apiKey = new Secret('sk-ant-canary-31c9')
const passed = { messages: { 'of its own client': {} }, 'messages.count_tokens': { 'of its own client': {} } }
const own = (fields: Asked): Asked => ({ model: 'own-model', ...fields })

/** Configurations of the provider. */
export const CONFIGURED: RequestsFixture['configured'] = {
  "at Anthropic's own address": { config: { apiKey }, endpoints: passed },
  'at the address of a proxy, with a maximum of tokens': {
    config: { apiKey, baseUrl: 'https://proxy.example/claude/v1/', maxTokens: 3000 },
    asked: { 'a maximum': { max_tokens: 5000 }, 'a maximum of null': { max_tokens: null, max_completion_tokens: null } },
    endpoints: passed,
  },
  'with facts of a model that thinks': {
    config: { apiKey, facts: { 'own-*': { thinking: 'adaptive' } } },
    asked: {
      'a temperature': own({ temperature: 0.5 }),
      'thinking and no effort': after([{ model: 'own-model', thinking: [THOUGHT] }], own({ reasoning_effort: null })),
      'the effort none': own({ reasoning_effort: 'none' }),
      'the effort xhigh': own({ reasoning_effort: 'xhigh' }),
      'a strict tool': own({ tools: [{ type: 'function', function: { name: 'look', strict: true } }], tool_choice: 'required' }),
    },
  },
  'at the address of an endpoint': { config: { apiKey, baseUrl: 'https://proxy.example/v1/messages' } },
  'at no address': { config: { apiKey, baseUrl: 'http://' } },
}
