import { expect } from 'chai'
import { addressesOf, type Location, readModel } from '../../../../plugins/providers/vertex/address.ts'
import { vertex } from './vertex.ts'

const GEMINI = { publisher: 'google', name: 'gemini-2.5-pro' } as const
const CLAUDE = { publisher: 'anthropic', name: 'claude-opus-4-5@20251101' } as const

/** The address of a model. */
function addressOf(location: Partial<Location>, model: typeof GEMINI | typeof CLAUDE): string {
  const { origin, path } = addressesOf({ project: 'acme-ai', region: 'us-east5', ...location })
  return origin + path(model, 'do')
}

describe('vertex: the address of a call', () => {
  for (const [region, host] of [
    ['us-east5', 'us-east5-aiplatform.googleapis.com'],
    ['global', 'aiplatform.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
    ['us', 'aiplatform.us.rep.googleapis.com'],
  ] as const) {
    it(`has the host ${host} for the region ${region}`, () => {
      expect(addressOf({ region }, GEMINI)).to.equal(
        `https://${host}/v1beta1/projects/acme-ai/locations/${region}/publishers/google/models/gemini-2.5-pro:do`,
      )
    })
  }

  it("has the path of Anthropic's SDK for a Claude", () => {
    expect(addressOf({}, CLAUDE)).to.equal(
      'https://us-east5-aiplatform.googleapis.com/v1/projects/acme-ai/locations/us-east5/publishers/anthropic/models/claude-opus-4-5@20251101:do',
    )
  })

  it('has the configured endpoint, with its version if it has one', () => {
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
    it(`cannot be configured as ${JSON.stringify(config)}`, async () => {
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
    it(`'${name}' is ${expected ? `${expected.name} of ${expected.publisher}` : 'invalid'}`, () => {
      expect(readModel(name)).to.deep.equal(expected)
    })
  }
})
