import { expect } from 'chai'
import { json, type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { cohere } from './support.ts'

describe('cohere: discovery', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  async function discover() {
    return (await cohere({ baseUrl: upstream.origin })).models!(new AbortController().signal)
  }

  const answer = (reply: (request: ReceivedRequest) => unknown) => upstream.on((request) => json(reply(request)))

  it('the models that chat, with what they can read, as the credential', async () => {
    const models = [
      { name: 'command-a-03-2025', endpoints: ['chat'], context_length: 256_000 },
      { name: 'command-r7b-12-2024' },
      null,
      { name: 3 },
      { name: '' },
    ]
    answer(() => ({ models }))
    expect(await discover()).to.deep.equal([
      { id: 'command-a-03-2025', owned_by: 'cohere', context_length: 256_000 },
      { id: 'command-r7b-12-2024', owned_by: 'cohere' },
    ])
    expect(upstream.requests).to.have.length(1)
    const { method, path, headers } = upstream.requests[0]!
    expect(`${method} ${path}`).to.equal('GET /v1/models?endpoint=chat&page_size=1000')
    expect(headers.authorization).to.equal('Bearer cohere-api-key-of-test')
  })

  it('all pages are read', async () => {
    answer(({ path }) =>
      path.endsWith('&page_token=a%2Fb%2B%3D')
        ? { models: [{ name: 'two' }], next_page_token: '' }
        : { models: [{ name: 'one' }], next_page_token: 'a/b+=' },
    )
    expect((await discover()).map(({ id }) => id)).to.deep.equal(['one', 'two'])
  })

  it('a list without an end, or that repeats itself, is cut off', async () => {
    answer(() => ({ next_page_token: `page-${upstream.requests.length}` }))
    await discover()
    expect(upstream.requests).to.have.length(30)
    answer(() => ({ next_page_token: 'same' }))
    await discover()
    expect(upstream.requests).to.have.length(30 + 2)
  })

  it('a refused credential says so, and not what it is', async () => {
    upstream.on(() => json({ message: 'invalid api token' }, { status: 401 }))
    const failure: unknown = await discover().catch((error: unknown) => error)
    expect(String(failure)).to.match(/status 401/)
    expect(String(failure)).to.not.include('cohere-api-key')
  })
})
