import { expect } from 'chai'
import { type Host, Secret } from 'unified-model-gateway/plugin'
import { testHost } from 'unified-model-gateway/plugin/testing'
import anthropic from '../../../plugins/providers/anthropic/index.ts'
import bedrock from '../../../plugins/providers/bedrock/index.ts'
import cohere from '../../../plugins/providers/cohere/index.ts'
import gemini from '../../../plugins/providers/gemini/index.ts'
import ollama from '../../../plugins/providers/ollama/index.ts'
import openai from '../../../plugins/providers/openai-compatible/index.ts'
import { mutantsOf } from '../../e2e/upstream-faults/mutants.ts'

const apiKey = new Secret('a-secret')

/** Providers, and a list with one model as their upstreams write it. */
const LISTS = {
  anthropic: {
    list: { data: [{ id: 'm', max_input_tokens: 9 }], has_more: false },
    create: (host: Host) => anthropic.create({ apiKey }, host),
  },
  bedrock: {
    list: { modelSummaries: [{ modelId: 'm', providerName: 'Amazon', inferenceTypesSupported: ['ON_DEMAND'] }] },
    create: (host: Host) => bedrock.create({ region: 'us-east-1', apiKey }, host),
  },
  cohere: { list: { models: [{ name: 'm', context_length: 9 }] }, create: (host: Host) => cohere.create({ apiKey }, host) },
  gemini: {
    list: { models: [{ name: 'models/m', supportedGenerationMethods: ['generateContent'] }] },
    create: (host: Host) => gemini.create({ apiKey }, host),
  },
  ollama: { list: { models: [{ name: 'm', details: { context_length: 9 } }] }, create: (host: Host) => ollama.create({}, host) },
  'openai-compatible': {
    list: { data: [{ id: 'm', created: 1, context_window: 9 }] },
    create: (host: Host) => openai.create({ baseUrl: 'https://vendor.example/v1', apiKey }, host),
  },
}

/** Models without the methods of a chat are not listed, and Together's list is a bare array. */
const isEmptyItself = (mutant: string): boolean => /upported|^: \[\]/.test(mutant)

describe('A list of models with a member of a wrong type is read right, or an error, and never empty', () => {
  for (const [name, { list, create }] of Object.entries(LISTS)) {
    it(name, async () => {
      const idsOf = async (page: unknown): Promise<unknown> => {
        const getJson = async (url: string) => (url.includes('inference-profiles') ? {} : page)
        const provider = await create(testHost({ getJson }))
        return provider.models!(new AbortController().signal).then(
          (models) => models.map(({ id }) => id),
          (error: unknown) => error,
        )
      }
      expect(await idsOf(list), 'the good list').to.deep.equal(['m'])
      for (const { name: mutant, value, isWrong } of mutantsOf(list)) {
        const ids = await idsOf(value)
        if (ids instanceof Error) continue
        expect(ids, mutant).to.be.an('array')
        if (isWrong && !isEmptyItself(mutant)) expect(ids, mutant).to.deep.equal(['m'])
      }
    })
  }
})
