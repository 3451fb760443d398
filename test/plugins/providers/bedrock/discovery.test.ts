import { expect } from 'chai'
import { Secret } from 'unified-model-gateway/plugin'
import { json, type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { bedrock } from './support.ts'

const ARN = 'arn:aws:bedrock:us-east-1'
const model = (modelId: string, more: object = {}) => ({
  modelId,
  modelArn: `${ARN}::foundation-model/${modelId}`,
  providerName: 'Amazon',
  inferenceTypesSupported: ['ON_DEMAND'],
  modelLifecycle: { status: 'ACTIVE' },
  ...more,
})
const profile = (inferenceProfileId: string, modelId: string, more: object = {}) => ({
  inferenceProfileId,
  inferenceProfileArn: `${ARN}:123456789012:inference-profile/${inferenceProfileId}`,
  models: [{ modelArn: `${ARN}::foundation-model/${modelId}` }],
  status: 'ACTIVE',
  type: 'SYSTEM_DEFINED',
  ...more,
})

describe('bedrock: discovery', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  async function discover(config: object = {}, signal = new AbortController().signal) {
    return (await bedrock({ baseUrl: upstream.origin, ...config })).models!(signal)
  }

  function answer(models: unknown, profiles: (request: ReceivedRequest) => unknown): void {
    upstream.on((request) => json(request.path.startsWith('/foundation-models') ? models : profiles(request)))
  }

  it('models by their own name and profiles by theirs, as the credential', async () => {
    const models = [
      model('amazon.nova-pro-v1:0'),
      model('anthropic.claude-sonnet-4-6', { providerName: 'Anthropic', inferenceTypesSupported: ['INFERENCE_PROFILE'] }),
      model('amazon.old-v1', { modelLifecycle: { status: 'LEGACY' } }),
      null,
      { modelId: 3 },
    ]
    const profiles = [
      profile('us.anthropic.claude-sonnet-4-6', 'anthropic.claude-sonnet-4-6'),
      profile('ab12', 'amazon.nova-pro-v1:0', { type: 'APPLICATION' }),
      profile('us.stability.image', 'stability.image'),
      profile('us.gone', 'amazon.nova-pro-v1:0', { status: 'INACTIVE' }),
    ]
    answer({ modelSummaries: models }, () => ({ inferenceProfileSummaries: profiles }))
    expect(await discover()).to.deep.equal([
      { id: 'amazon.nova-pro-v1:0', owned_by: 'amazon' },
      { id: 'us.anthropic.claude-sonnet-4-6', owned_by: 'anthropic' },
      { id: `${ARN}:123456789012:inference-profile/ab12`, owned_by: 'amazon' },
    ])
    const asked = upstream.requests.map(({ method, path }) => `${method} ${path}`)
    expect(asked).to.have.members(['GET /foundation-models?byOutputModality=TEXT', 'GET /inference-profiles?maxResults=1000'])
    for (const { headers } of upstream.requests) expect(headers.authorization).to.equal('Bearer bedrock-api-key-of-test')
  })

  it('all pages are read, and signed', async () => {
    answer({ modelSummaries: [model('m')] }, ({ path }) =>
      path.endsWith('nextToken=a%2Fb%2B%3D')
        ? { inferenceProfileSummaries: [profile('two', 'm')] }
        : { inferenceProfileSummaries: [profile('one', 'm')], nextToken: 'a/b+=' },
    )
    const keys = { apiKey: undefined, accessKeyId: new Secret('AKIAEXAMPLE'), secretAccessKey: new Secret('very-secret') }
    const names = (await discover(keys)).map(({ id }) => id)
    expect(names).to.deep.equal(['m', 'one', 'two'])
    for (const { headers } of upstream.requests) {
      expect(headers.authorization).to.match(
        /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE.*SignedHeaders=host;x-amz-content-sha256;x-amz-date,/,
      )
    }
  })

  it('a list without an end, or that repeats itself, is cut off', async () => {
    answer({}, () => ({ nextToken: `page-${upstream.requests.length}` }))
    await discover()
    expect(upstream.requests).to.have.length(31)
    answer({}, () => ({ nextToken: 'same' }))
    await discover()
    expect(upstream.requests).to.have.length(31 + 3)
  })

  it('models may be listed elsewhere than they are called', async () => {
    answer({ modelSummaries: [model('m')] }, () => ({}))
    const elsewhere = { baseUrl: 'https://runtime.invalid', discoveryUrl: `${upstream.origin}/control/` }
    upstream.on(({ path }) => json(path.startsWith('/control/foundation-models') ? { modelSummaries: [model('m')] } : {}))
    expect(await discover(elsewhere)).to.deep.equal([{ id: 'm', owned_by: 'amazon' }])
  })

  it('a refused credential says so, and not what it is', async () => {
    upstream.on(() => json({ message: 'No.' }, { status: 403 }))
    const failure: unknown = await discover().catch((error: unknown) => error)
    expect(String(failure)).to.match(/status 403/)
    expect(String(failure)).to.not.include('bedrock-api-key')
  })
})
