import { expect } from 'chai'
import { addressesOf, type Location, readModel } from '../../../../plugins/providers/vertex/address.ts'
import { vertex } from './vertex.ts'

const GEMINI = { publisher: 'google', name: 'gemini-2.5-pro' } as const
const CLAUDE = { publisher: 'anthropic', name: 'claude-opus-4-5@20251101' } as const

/** Where a model is asked. */
function addressOf(location: Partial<Location>, model: typeof GEMINI | typeof CLAUDE): string {
  const { origin, path } = addressesOf({ project: 'acme-ai', region: 'us-east5', ...location })
  return origin + path(model, 'do')
}

describe('vertex: where a call goes', () => {
  for (const [region, host] of [
    ['us-east5', 'us-east5-aiplatform.googleapis.com'],
    ['global', 'aiplatform.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
    ['us', 'aiplatform.us.rep.googleapis.com'],
  ] as const) {
    it(`the region ${region} is asked at ${host}`, () => {
      expect(addressOf({ region }, GEMINI)).to.equal(
        `https://${host}/v1beta1/projects/acme-ai/locations/${region}/publishers/google/models/gemini-2.5-pro:do`,
      )
    })
  }

  it('a Claude is asked as Anthropic asks it', () => {
    expect(addressOf({}, CLAUDE)).to.equal(
      'https://us-east5-aiplatform.googleapis.com/v1/projects/acme-ai/locations/us-east5/publishers/anthropic/models/claude-opus-4-5@20251101:do',
    )
  })

  it('a private endpoint is asked instead, by the version at its end where it has one', () => {
    const rest = 'projects/acme-ai/locations/us-east5/publishers/google/models/gemini-2.5-pro:do'
    expect(addressOf({ baseUrl: 'https://vertex.p.googleapis.com/' }, GEMINI)).to.equal(
      `https://vertex.p.googleapis.com/v1beta1/${rest}`,
    )
    expect(addressOf({ baseUrl: 'http://127.0.0.1:80/x/v1' }, GEMINI)).to.equal(`http://127.0.0.1/x/v1/${rest}`)
  })

  for (const [config, words] of [
    [{ baseUrl: 'https://' }, 'baseUrl must be an http or https URL: give the address before /projects'],
    [{ project: 'a/b' }, 'the config of vertex/project'],
    [{ region: 'us.evil.example' }, 'the config of vertex/region'],
    [{ region: '' }, 'the config of vertex/region'],
  ] as const) {
    it(`${JSON.stringify(config)} is refused when the table is loaded`, async () => {
      expect(String(await vertex(config).catch((error: unknown) => error))).to.contain(words)
    })
  }
})

describe('vertex: the name of a model', () => {
  for (const [name, expected] of [
    ['gemini-2.5-pro', GEMINI],
    ['google/gemini-2.5-pro', GEMINI],
    ['publishers/google/models/gemini-2.5-pro', GEMINI],
    ['claude-opus-4-5@20251101', CLAUDE],
    ['anthropic/claude-opus-4-5@20251101', CLAUDE],
    ['publishers/anthropic/models/claude-opus-4-5@20251101', CLAUDE],
    ['meta/llama-4', undefined],
    ['../gemini', undefined],
    ['gemini:countTokens', undefined],
    ['gemini?x', undefined],
    ['', undefined],
  ] as const) {
    it(`${name || 'of nothing'} is ${expected ? `${expected.name} of ${expected.publisher}` : 'none'}`, () => {
      expect(readModel(name)).to.deep.equal(expected)
    })
  }
})
