import { expect } from 'chai'
import type { TObject } from 'typebox'
import { type Host, Secret, type UpstreamRequest } from 'unified-model-gateway/plugin'
import { testAttempt, testCall, testHost } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/ollama/index.ts'
import { parameters } from '../../../../plugins/providers/ollama/request.ts'
import { expectParametersOn, namesIn, providerPage } from '../../../support/provider-page.ts'
import { ollama, upstream } from './ollama.ts'

describe('ollama: the address of a call', () => {
  for (const [baseUrl, address] of [
    [undefined, 'http://127.0.0.1:11434/api/chat'],
    ['http://gpu-1:11434/', 'http://gpu-1:11434/api/chat'],
    ['http://gpu-1:11434/v1', 'http://gpu-1:11434/api/chat'],
    ['https://ollama.com/api', 'https://ollama.com/api/chat'],
    ['https://proxy.example.com/ollama', 'https://proxy.example.com/ollama/api/chat'],
  ]) {
    it(`is ${address} for baseUrl ${baseUrl}`, async () => {
      const { origin, path } = await upstream({}, baseUrl === undefined ? {} : { baseUrl })
      expect(origin + path).to.equal(address)
    })
  }

  it('is sent the key as a secret, or no key', async () => {
    const { headers } = await upstream({}, { apiKey: new Secret('ollama-very-secret') })
    expect((headers.authorization as Secret).reveal()).to.equal('Bearer ollama-very-secret')
    expect(JSON.stringify(headers)).not.to.contain('very-secret')
    expect((await upstream({})).headers).not.to.have.property('authorization')
  })

  for (const [what, config] of [
    ['an invalid duration', { keepAlive: 'long' }],
    ['an option that is an object', { options: { num_ctx: {} } }],
  ] as const) {
    it(`cannot be configured with ${what}`, async () => {
      const failure = await ollama(config).catch((error: unknown) => error)
      expect(String(failure)).to.contain(`the config of ollama/${Object.keys(config)[0]}`)
    })
  }
})

describe('ollama: the list of models', () => {
  const listing = async (tags: unknown) => {
    const asked: string[] = []
    const getJson: Host['getJson'] = async (url) => {
      asked.push(url)
      return tags
    }
    const provider = await plugin.create({}, testHost({ getJson }))
    return { models: await provider.models!(new AbortController().signal), asked }
  }

  it('tells which models think', async () => {
    const getJson: Host['getJson'] = async () => ({
      models: [
        { name: 'own-thinker', capabilities: ['completion', 'thinking'] },
        { name: 'qwen3-talker', capabilities: ['completion'] },
      ],
    })
    const provider = await plugin.create({}, testHost({ getJson }))
    const thinkOf = async (model: string) => {
      const call = testCall({ model: `local/${model}`, reasoning_effort: 'high' })
      const { body } = (await provider.request(call, testAttempt(call))) as UpstreamRequest
      return (JSON.parse(String(body)) as { think?: unknown }).think
    }
    expect([await thinkOf('own-thinker'), await thinkOf('qwen3-talker')]).to.deep.equal([undefined, 'high'])
    await provider.models!(new AbortController().signal)
    expect([await thinkOf('own-thinker'), await thinkOf('qwen3-talker')]).to.deep.equal(['high', undefined])
  })

  it('has the chat models, with their context length if known', async () => {
    const { models, asked } = await listing({
      models: [
        {
          name: 'gpt-oss:20b',
          modified_at: '2026-08-01T10:00:00.5+02:00',
          capabilities: ['completion', 'thinking', 'vision'],
          details: { family: 'gptoss', context_length: 131_072 },
        },
        { name: 'llama3.2:latest', modified_at: '0001-01-01T00:00:00Z', details: {} },
        { name: 'nomic-embed-text:latest', capabilities: ['embedding'] },
        { name: '' },
        { name: 7 },
        null,
      ],
    })
    expect(models).to.deep.equal([
      {
        id: 'gpt-oss:20b',
        owned_by: 'library',
        created: 1_785_571_200,
        context_length: 131_072,
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
      },
      { id: 'llama3.2:latest', owned_by: 'library' },
    ])
    expect(asked).to.deep.equal(['http://127.0.0.1:11434/api/tags'])
  })

  for (const tags of [null, {}, [], { models: 'all' }]) {
    it(`cannot be ${JSON.stringify(tags)}`, async () => {
      const failure: unknown = await listing(tags).catch((error: unknown) => error)
      expect(String(failure)).to.contain('not a list of models')
    })
  }
})

describe('ollama: the page', () => {
  it('lists every parameter with its support', () => expectParametersOn(providerPage('ollama'), parameters))

  it('lists every option', () => {
    expect(namesIn(providerPage('ollama'), 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
  })
})
