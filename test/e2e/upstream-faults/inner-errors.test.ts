import { expect } from 'chai'
import { event, json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const FOUND = {
  hate: { filtered: false, severity: 'safe' },
  violence: { filtered: true, severity: 'medium' },
  jailbreak: { filtered: false, detected: true },
}
const message = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
const refusal = (innererror: unknown, status = 400) => ({
  error: { message, type: null, param: 'prompt', code: 'content_filter', status, innererror },
})

const ASKED = [{ role: 'user', content: 'Hi' }]
const ENDPOINTS = {
  '/v1/chat/completions': { messages: ASKED },
  '/v1/responses': { input: 'Hi' },
  '/v1/messages': { messages: ASKED, max_tokens: 9 },
}

describe('the findings of Azure’s content filters for a refused prompt', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const { origin } = upstream
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          azure: {
            provider: 'azure-openai',
            breaker: false,
            config: { baseUrl: `${origin}/openai/v1`, apiKey: `\${env:TEST_KEY}` },
          },
          open: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${origin}/v1` } },
        },
      },
      env: { TEST_KEY: 'canaryhidden' },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const ask = async (path: keyof typeof ENDPOINTS, namespace: string, members: object = {}) => {
    const reply = await gateway.fetch(path, { json: { model: `${namespace}/m`, ...ENDPOINTS[path], ...members } })
    return { status: reply.status, text: await reply.text() }
  }

  for (const path of Object.keys(ENDPOINTS) as (keyof typeof ENDPOINTS)[]) {
    for (const namespace of ['azure', 'open']) {
      it(`reach clients of ${path}: ${namespace}`, async () => {
        for (const name of ['content_filter_result', 'content_filter_results']) {
          const innererror = { code: 'ResponsibleAIPolicyViolation', [name]: FOUND }
          upstream.on(() => json(refusal(innererror), { status: 400 }))
          const { status, text } = await ask(path, namespace)
          expect([status, JSON.parse(text).error.innererror]).to.deep.equal([400, innererror])
        }
      })

      it(`reach clients of ${path} from an event before any text: ${namespace}`, async () => {
        const innererror = { code: 'ResponsibleAIPolicyViolation', content_filter_result: FOUND }
        upstream.on(() => sse([event(refusal(innererror))]))
        const { text } = await ask(path, namespace, { stream: true })
        expect(text).to.include(`"innererror":${JSON.stringify(innererror)}`)
      })
    }
  }

  for (const [what, innererror, seen] of [
    ['a text', 'canary', undefined],
    ['a list', ['canary'], undefined],
    ['of other members', { canary: 'canary', revised_prompt: 'canary' }, undefined],
    ['with a code that is a text', { code: 'see canary.example' }, undefined],
    ['with a code that is the key', { code: 'canaryhidden' }, undefined],
    ['with findings that are a text', { code: 'Code', content_filter_result: 'canary' }, { code: 'Code' }],
    [
      'with texts as findings',
      {
        content_filter_result: {
          'canary.example': FOUND.hate,
          ['canary'.repeat(20)]: FOUND.hate,
          canaryhidden: FOUND.hate,
          hate: 'canary',
          sexual: { filtered: 'canary', severity: 'canary.example', cause: 'canary' },
          custom_blocklists: { filtered: true, details: [{ id: 'canary', filtered: true }] },
        },
      },
      { content_filter_result: { sexual: {}, custom_blocklists: { filtered: true } } },
    ],
  ] as const) {
    it(`show nothing else that an upstream may send: ${what}`, async () => {
      upstream.on(() => json(refusal(innererror), { status: 400 }))
      const { status, text } = await ask('/v1/chat/completions', 'azure')
      expect([status, JSON.parse(text).error.innererror]).to.deep.equal([400, seen])
      expect(text).not.to.include('canary')
    })
  }

  it('are bounded', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [`k${'ab'[at % 2]}${'_'.repeat(at % 50)}${'x'.repeat(at % 7)}`, {}]),
    )
    upstream.on(() => json(refusal({ content_filter_result: many }), { status: 400 }))
    const { text } = await ask('/v1/chat/completions', 'azure')
    expect(Object.keys(JSON.parse(text).error.innererror.content_filter_result)).to.have.lengthOf(32)
  })

  it('are not shown where the error is the operator’s', async () => {
    upstream.on(() => json({ error: { message: 'x', code: '401', innererror: { code: 'Canary' } } }, { status: 401 }))
    const { text } = await ask('/v1/chat/completions', 'azure')
    expect(text).not.to.match(/innererror|canary/i)
  })
})
