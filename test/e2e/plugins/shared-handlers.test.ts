import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

/** Its instances have one handler in common, and each reads refusals in its own way. */
const plugin = (origin: string): string => `
import { defineProvider, Type } from 'unified-model-gateway/plugin'
const handler = {
  parameters: 'verbatim',
  request: (call, { model }) => ({ origin: '${origin}', path: '/any', headers: call.headers, body: call.splice({ model }) }),
}
export default defineProvider({
  apiVersion: 1,
  name: 'sharing',
  schema: Type.Object({ status: Type.Integer() }),
  create: ({ status }) => ({
    parameters: 'verbatim',
    request: handler.request,
    endpoints: { rerank: handler },
    error: () => ({ status, message: 'No.', param: 'messages' }),
  }),
})
`

describe('Two providers that share a handler', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => json({}, { status: 418 }))
    gateway = await startTestGateway({
      files: { 'sharing.ts': plugin(upstream.origin) },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          a: { provider: './sharing.ts', config: { status: 401 } },
          b: { provider: './sharing.ts', config: { status: 400 } },
        },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const rerank = async (model: string) => {
    const reply = await gateway.fetch('/v1/rerank', { json: { model, query: 'q', documents: ['d'] } })
    return { status: reply.status, error: ((await reply.json()) as { readonly error: object }).error }
  }

  it('each read the refusals of their own upstream', async () => {
    expect(await rerank('a/m')).to.deep.include({ status: 400 })
    expect((await rerank('b/m')).error).to.include({ message: 'No.', param: 'input' })
  })
})
