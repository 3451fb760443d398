import { expect } from 'chai'
import { type Host, Secret } from 'unified-model-gateway/plugin'
import { testHost } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/gemini/index.ts'

/** A provider whose list of models has these pages; `asked`: the requested addresses. */
async function listing(...pages: readonly unknown[]) {
  const asked: string[] = []
  const getJson: Host['getJson'] = async (url, { headers }) => {
    expect(headers['x-goog-api-key']).to.be.instanceOf(Secret)
    asked.push(url)
    return pages[Math.min(asked.length, pages.length) - 1]
  }
  const provider = await plugin.create({ apiKey: new Secret('AIza-very-secret') }, testHost({ getJson }))
  return { asked, models: await provider.models!(new AbortController().signal) }
}

const model = (name: string, more: object = {}) => ({ name, supportedGenerationMethods: ['generateContent'], ...more })

describe('gemini: the list of models', () => {
  it('has the chat models, with their names and limits', async () => {
    const { models, asked } = await listing({
      models: [
        model('models/gemini-2.5-pro', { displayName: 'Gemini 2.5 Pro', inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 }),
        model('models/gemini-next'),
        { name: 'models/text-embedding-004', supportedGenerationMethods: ['embedContent'] },
      ],
    })
    expect(models).to.deep.equal([
      {
        id: 'gemini-2.5-pro',
        owned_by: 'google',
        context_length: 1_048_576,
        name: 'Gemini 2.5 Pro',
        max_output_tokens: 65_536,
      },
      { id: 'gemini-next', owned_by: 'google' },
    ])
    expect(asked).to.deep.equal(['https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000'])
  })

  it('reads all pages', async () => {
    const { models, asked } = await listing(
      { models: [model('models/a')], nextPageToken: 't 1' },
      { models: [model('models/b')] },
    )
    expect(models.map(({ id }) => id)).to.deep.equal(['a', 'b'])
    expect(asked[1]).to.match(/pageToken=t\+1$/)
  })

  it('ends after a limit of pages', async () => {
    const { asked } = await listing({ models: [], nextPageToken: 'again' })
    expect(asked).to.have.lengthOf(2)
  })

  for (const page of [{}, { models: [] }, { models: [{}, { name: 7 }, model('x', { supportedGenerationMethods: null })] }]) {
    it(`of ${JSON.stringify(page)} is empty`, async () => {
      expect((await listing(page)).models).to.deep.equal([])
    })
  }

  for (const page of [null, 'models', [model('x')], { models: {} }, { models: ['x'] }, { models: [{}, { name: 7 }] }]) {
    it(`of ${JSON.stringify(page)} is an error, and not empty`, async () => {
      expect(await listing(page).catch((error: unknown) => error)).to.be.an('error')
    })
  }
})
