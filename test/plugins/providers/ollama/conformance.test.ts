import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider } from 'unified-model-gateway/plugin/testing'
import ollama from '../../../../plugins/providers/ollama/index.ts'
import { RARE_REQUESTS } from '../../../support/rare-requests.ts'
import { ASKED, CONFIGURED } from './asked.ts'
import { errors, midStreamError, scenarios } from './scenarios.ts'

const LOOK = { type: 'function', function: { name: 'look' } }

describeProvider({
  plugin: ollama,
  config: ({ origin }) => ({ baseUrl: origin, apiKey: new Secret('ollama-canary-31c9') }),
  model: 'gpt-oss:20b',
  streamType: 'application/x-ndjson',
  requests: {
    file: new URL('requests.http', import.meta.url),
    asked: { ...RARE_REQUESTS, ...ASKED },
    configured: CONFIGURED,
  },
  scenarios,
  errors,
  midStreamError,
  parameters: {
    // A required tool is refused.
    tool_choice: { tools: [LOOK], tool_choice: 'none' },
    min_p: { min_p: 0.05 },
    repeat_penalty: { repeat_penalty: 1.1 },
  },
  discovery: {
    answers: {
      models: [
        { name: 'gpt-oss:20b', modified_at: '2026-08-01T10:00:00Z', details: { context_length: 131_072 } },
        { name: 'nomic-embed-text:latest', capabilities: ['embedding'] },
        { name: 'llama3.2:latest', capabilities: ['completion', 'tools'] },
        { name: '' },
        { capabilities: ['completion'] },
        'no model',
      ],
    },
    lists: ['gpt-oss:20b', 'llama3.2:latest'],
  },
})
