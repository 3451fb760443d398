import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider } from 'unified-model-gateway/plugin/testing'
import azure from '../../../../plugins/providers/azure-openai/index.ts'
import { byIdentity, byKey } from './configured.ts'
import { onAppService } from './managed-identity.ts'
import { embeddings, errors, midStreamError, scenarios } from './scenarios.ts'

const resource = {
  plugin: azure,
  model: 'gpt-5-in-sweden',
  scenarios,
  errors,
  midStreamError,
  embeddings,
  responses: 'verbatim' as const,
  discovery: { absent: 'a resource tells which models it could have, not which deployments it has' },
}

describe('azure-openai', () => {
  onAppService()

  describeProvider({
    ...resource,
    title: 'azure-openai, a deployment by its key',
    config: ({ origin }) => ({ baseUrl: origin, apiKey: new Secret('azure-canary-31c9'), apiVersion: '2024-10-21' }),
    requests: { file: new URL('deployment-requests.http', import.meta.url), ...byKey },
  })

  describeProvider({
    ...resource,
    title: 'azure-openai, /openai/v1 by the identity of the machine',
    config: ({ origin }) => ({ baseUrl: origin }),
    requests: { file: new URL('v1-requests.http', import.meta.url), ...byIdentity },
  })
})
