import { Secret } from 'unified-model-gateway/plugin'
import type { Asked, RequestsFixture } from 'unified-model-gateway/plugin/testing'

const tools = [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: { required: ['at'] } } }]

/** Chat completion requests to Ollama, by title. */
export const ASKED: Readonly<Record<string, Asked>> = {
  'reasoning of a message without calls': {
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi.', reasoning_content: 'They greet.' },
      { role: 'user', content: 'Well?' },
    ],
  },
  'several images, sounds and texts': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One.' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'text', text: 'Two.' },
          { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        ],
      },
    ],
  },
  'parameters of a tool without a type': { tools },
  'a described tool that is to be called': { tools, tool_choice: 'required' },
  'a described tool that is to be called by its name': { tools, tool_choice: { type: 'function', function: { name: 'look' } } },
  'a schema beside a tool that is to be called': {
    tools,
    tool_choice: 'required',
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema: { type: 'object' } } },
  },
  'options that OpenAI does not have': { top_k: 40, min_p: 0.05, repeat_penalty: 1.1, num_ctx: 10 },
  'log probabilities without their number': { logprobs: true },
}

const calls: Readonly<Record<string, Asked>> = {
  'a temperature and a stop sequence': { temperature: 0.9, stop: 'END' },
  'a streamed text': { stream: true },
}

/** Configurations of the provider. */
export const CONFIGURED: RequestsFixture['configured'] = {
  'at its usual address': { config: {} },
  'with options, at the address of its API': {
    config: {
      baseUrl: 'https://proxy.example/models/api/',
      apiKey: new Secret('ollama-canary-31c9'),
      options: { num_ctx: 32_768, temperature: 0.1, stop: ['STOP'] },
      keepAlive: '30m',
    },
    asked: calls,
  },
  "at the address of OpenAI's API, kept without end": {
    config: { baseUrl: 'https://proxy.example/v1', keepAlive: -1 },
    asked: calls,
  },
  'not kept': { config: { keepAlive: 0, options: {} } },
  'at the address of an endpoint': { config: { baseUrl: 'https://proxy.example/api/chat' } },
  'at no address': { config: { baseUrl: 'http://' } },
}
