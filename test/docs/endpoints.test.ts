import { expect } from 'chai'
import type { Provider } from 'unified-model-gateway/plugin'
import { NOT_SERVED } from '../../core/http/app.ts'
import { modelEndpoints } from '../../core/protocol/endpoints/model-endpoints.ts'
import { builtInProviders, cell } from '../../docs/generate/providers.ts'
import { readText } from '../support/sources.ts'

const PAGE = readText('docs/endpoints.md')

/** The cells of the page's table with this heading, row by row. */
function table(heading: string): string[][] {
  const [rows] = PAGE.slice(PAGE.indexOf(heading)).split('\n\n')
  return rows!.split('\n').map((row) => row.split(' | ').map((text) => text.replace(/^\| | \|$/g, '')))
}

describe('docs/endpoints.md', () => {
  let providers: readonly (readonly [string, Provider])[]

  before(async () => {
    providers = await builtInProviders()
  })

  for (const { name: endpoint, path, protocol } of modelEndpoints) {
    // Those of client protocols are served by every provider.
    if (endpoint === 'chat.completions' || protocol !== undefined) continue
    it(`names the providers that serve ${endpoint}`, () => {
      const row = table('| endpoint |').find(([cell]) => cell === `\`POST ${path}\``)
      const serving = providers
        .filter(([, provider]) => provider.endpoints?.[endpoint as keyof NonNullable<Provider['endpoints']>])
        .map(([name]) => `\`${name}\``)
      expect(row?.at(-1)).to.equal(serving.join(', '))
    })
  }

  it('tells what becomes of each field of a request for embeddings', () => {
    const tables = providers.flatMap(([name, provider]) => {
      const parameters = provider.endpoints?.embeddings?.parameters ?? 'verbatim'
      return parameters === 'verbatim' ? [] : [{ name, parameters }]
    })
    const fields = [...new Set(['model', ...tables.flatMap(({ parameters }) => Object.keys(parameters))])]
    const [heads, , ...rows] = table('| field | bedrock')
    expect(heads).to.deep.equal(['field', ...tables.map(({ name }) => name)])
    expect(Object.fromEntries(rows.map(([field, ...supports]) => [field, supports]))).to.deep.equal(
      Object.fromEntries(fields.map((field) => [`\`${field}\``, tables.map(({ parameters }) => cell(parameters[field]))])),
    )
  })

  it('names all endpoints that the gateway says it does not serve', () => {
    const [, section = ''] = PAGE.split('## Endpoints that are not served')
    const listed = section.split('\n## ')[0]!.match(/`\/v1\/[\w/]+`/g) ?? []
    expect(listed).to.deep.equal(NOT_SERVED.map((path) => `\`${path}\``))
  })
})
