import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider, json } from 'unified-model-gateway/plugin/testing'
import anthropic from '../../../../plugins/providers/anthropic/index.ts'
import { askedOf } from '../../../support/asked-models.ts'
import { RARE_REQUESTS } from '../../../support/rare-requests.ts'
import { ASKED, CONFIGURED } from './asked.ts'
import { errors, midStreamError, parameters, scenarios } from './scenarios.ts'

describeProvider({
  plugin: anthropic,
  config: ({ origin }) => ({ baseUrl: origin, apiKey: new Secret('sk-ant-canary-31c9') }),
  model: 'claude-haiku-4-5',
  requests: {
    file: new URL('requests.http', import.meta.url),
    asked: {
      ...RARE_REQUESTS,
      ...ASKED,
      ...askedOf([
        'claude-opus-5-5',
        'claude-sonnet-5-5',
        'claude-opus-4-8',
        'claude-opus-4-6',
        'claude-sonnet-4-20250514',
        'unlisted',
      ]),
    },
    configured: CONFIGURED,
  },
  scenarios,
  errors,
  midStreamError,
  parameters,
  discovery: {
    answers: ({ path }) =>
      json(
        path.includes('after_id=claude-b')
          ? { data: [{ id: 'claude-c' }, { name: 'claude-d' }], has_more: false, last_id: 'claude-c' }
          : {
              data: [{ id: 'claude-a', created_at: '2026-01-01T00:00:00Z' }, { id: 'claude-b' }],
              has_more: true,
              last_id: 'claude-b',
            },
      ),
    lists: ['claude-a', 'claude-b', 'claude-c'],
  },
})
