import { Secret } from 'unified-model-gateway/plugin'
import type { ConfiguredCalls, RequestsFixture } from 'unified-model-gateway/plugin/testing'

const apiKey = new Secret('azure-canary-31c9')
const baseUrl = 'https://acme.openai.azure.com'
const apiVersion = '2024-10-21'

const at = (address: string): ConfiguredCalls => ({ config: { baseUrl: address, apiKey } })

const endpoints = {
  completions: { 'of a streamed text': { stream: true } },
  responses: { 'with a store of data': { data_sources: [{ type: 'azure_search' }] } },
} satisfies RequestsFixture['endpoints']

/** Calls and configurations of the API of deployments, by the key of the resource. */
export const byKey: Pick<RequestsFixture, 'asked' | 'endpoints' | 'configured'> = {
  asked: {
    'a deployment with a name that could change the address': { model: '../gpt-5' },
    'a deployment with a point': { model: 'gpt-4.1_mini-2' },
    'a deployment that begins with a point': { model: '.gpt-5' },
    'a store of data': { data_sources: [{ type: 'azure_search' }] },
    'a member that elsewhere chooses a model': { models: ['other'] },
  },
  endpoints: {
    ...endpoints,
    'images.generations': { 'of a deployment with a name that could change the address': { model: 'a/b' } },
  },
  configured: {
    'by its key, without a version': at(baseUrl),
    'at the address of version 1': at(`${baseUrl}/openai/v1/`),
    'at the address of the API': at(`${baseUrl}/openai`),
    'behind a gateway': at('http://gateway.example:8080/azure'),
    'behind a gateway, with a version': {
      config: { baseUrl: 'http://gateway.example/azure/openai/v1', apiKey, apiVersion },
      endpoints: { responses: { 'of a text': {} } },
    },
    'with members that it allows and refuses': {
      config: { baseUrl, apiKey, allow: ['data_sources'], refuse: ['user'] },
      asked: { 'a store of data': { data_sources: [{ type: 'azure_search' }] }, 'a member that is refused': { user: 'ann' } },
    },

    'with a member that it cannot allow': { config: { baseUrl, apiKey, allow: ['models'] } },
    'at the address of an endpoint': at(`${baseUrl}/openai/v1/chat/completions`),
    'at an invalid address': at('https://'),
  },
}

/** Calls and configurations of `/openai/v1`, by the identity of the machine. */
export const byIdentity: Pick<RequestsFixture, 'asked' | 'endpoints' | 'configured'> = {
  asked: { 'a deployment of any name': { model: '../gpt-5' } },
  endpoints,
  configured: {
    'by its identity': { config: { baseUrl } },
    'by its identity, with a version': { config: { baseUrl, apiVersion } },
    'in the cloud of the government': { config: { baseUrl: 'https://acme.openai.azure.us' } },
    'in the cloud of China': { config: { baseUrl: 'https://acme.openai.azure.cn' } },
    'behind a gateway of a name like a cloud': { config: { baseUrl: 'https://azure.us.example' } },
  },
}
