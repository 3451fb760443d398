import { expect } from 'chai'
import { MEMBERS } from '../../../../core/protocol/members.ts'
import { publishedMembers } from './published.ts'
import { isUnguarded } from './unguarded.ts'

const lastOf = (path: string): string => path.split('.').at(-1)!

describe('the members of requests that vendors publish', () => {
  let published: ReadonlyMap<string, ReadonlySet<string>>

  before(() => {
    published = publishedMembers()
  })

  it('are those of all endpoints but rerank, which neither OpenAI nor Anthropic has', () => {
    expect([...published.keys(), 'rerank'].sort()).to.deep.equal(Object.keys(MEMBERS).sort())
  })

  for (const [endpoint, { top, nested, data }] of Object.entries(MEMBERS)) {
    if (endpoint === 'rerank') continue
    const guarded = new Set(Object.keys(nested).map((place) => place.replace(/^\w+\[\]\.|\.id$/g, '')))
    const isData = (path: string): boolean =>
      path
        .split('.')
        .slice(0, -1)
        .some((key) => data.includes(key))

    it(`are all classified: ${endpoint}`, () => {
      const paths = [...published.get(endpoint)!]
      const unknown = paths.filter((path) =>
        path.includes('.') ? !guarded.has(lastOf(path)) && !isUnguarded(lastOf(path)) : top[path] === undefined,
      )
      expect(unknown).to.deep.equal([])
    })

    it(`are guarded below the top level wherever their names are, but in what no upstream reads as members: ${endpoint}`, () => {
      const paths = [...published.get(endpoint)!]
      const passed = paths.filter((path) => path.includes('.') && guarded.has(lastOf(path)) && isData(path))
      expect(passed).to.have.members(PASSED[endpoint] ?? [])
    })
  }
})

/** Members of guarded names in what the client repeats of a response. */
const REPEATED = [
  'input.svg_usage.model',
  'input.results.file_id',
  'input.content.annotations.container_id',
  'input.content.annotations.file_id',
]

/** Members of guarded names in what the client repeats of a reply. */
const PASSED: Readonly<Record<string, readonly string[]>> = {
  responses: REPEATED,
  'responses.compact': REPEATED,
  'responses.input_tokens': REPEATED,
  messages: ['messages.content.from.model', 'messages.content.to.model'],
  'messages.count_tokens': ['messages.content.from.model', 'messages.content.to.model'],
}
