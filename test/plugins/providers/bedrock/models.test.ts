import { expect } from 'chai'
import { Value } from 'typebox/value'
import { Secret, Type } from 'unified-model-gateway/plugin'
import { json, type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import shipped from '../../../../plugins/providers/bedrock/models.json' with { type: 'json' }
import { Facts, factsOf, type ModelFacts } from '../../../../plugins/providers/bedrock/models.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'
import { bedrock } from './support.ts'

const CLAUDE: Partial<ModelFacts> = {
  caching: true,
  toolCaching: true,
  topK: 'claude',
  claudeToolChoice: true,
  maxTokens: 64_000,
  toolChoice: 'named',
}
const ADAPTIVE: Partial<ModelFacts> = { ...CLAUDE, sampling: 'none', reasoning: 'adaptive', schemas: false, strictTools: false }
const BUDGET: Partial<ModelFacts> = { ...CLAUDE, sampling: 'one', reasoning: 'budget' }
const PLAIN: Partial<ModelFacts> = {
  sampling: 'both',
  reasoning: 'none',
  claudeToolChoice: false,
  schemas: false,
  shortToolIds: false,
}

/** Facts by AWS's ids of models. */
const KNOWN: Readonly<Record<string, Partial<ModelFacts>>> = {
  'us.anthropic.claude-opus-5-5-v1': { ...ADAPTIVE, toolChoice: 'auto', reasoningOff: 'never', alwaysReasons: true },
  'global.anthropic.claude-sonnet-5-5': { ...ADAPTIVE, toolChoice: 'auto', reasoningOff: 'between_tools' },
  'us.anthropic.claude-opus-5-v1': { ...ADAPTIVE, reasoningOff: 'disabled', alwaysReasons: true, xhigh: true },
  'us.anthropic.claude-fable-5-v1': { ...ADAPTIVE, reasoningOff: 'never', alwaysReasons: true },
  'us.anthropic.claude-opus-4-7': { ...ADAPTIVE, alwaysReasons: false, xhigh: true },
  'us.anthropic.claude-sonnet-4-6': {
    ...ADAPTIVE,
    sampling: 'one',
    schemas: true,
    strictTools: true,
    alwaysReasons: false,
    xhigh: false,
  },
  'global.anthropic.claude-haiku-4-5-20251001-v1:0': { ...BUDGET, schemas: true, strictTools: true },
  'anthropic.claude-opus-4-1-20250805-v1:0': { ...BUDGET, claudeToolChoice: false, schemas: false, maxTokens: 32_000 },
  'us.anthropic.claude-sonnet-4-20250514-v1:0': { ...BUDGET, claudeToolChoice: false, schemas: false },
  'us.anthropic.claude-3-7-sonnet-20250219-v1:0': { ...BUDGET, claudeToolChoice: false },
  'anthropic.claude-3-5-sonnet-20241022-v2:0': { ...PLAIN, caching: true, toolCaching: true, toolChoice: 'named' },
  'anthropic.claude-3-haiku-20240307-v1:0': { ...PLAIN, caching: false, toolCaching: false, toolChoice: 'named' },
  'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1': {
    schemas: true,
    reasoning: 'adaptive',
  },
  'us.amazon.nova-2-lite-v1:0': { ...PLAIN, reasoning: 'nova', caching: true, toolChoice: 'named' },
  'amazon.nova-micro-v1:0': { ...PLAIN, caching: true, toolCaching: false, topK: 'nova', toolChoice: 'named' },
  'us.meta.llama3-3-70b-instruct-v1:0': { ...PLAIN, toolChoice: 'auto' },
  'mistral.mistral-large-2402-v1:0': { ...PLAIN, toolChoice: 'any', shortToolIds: true },
  'mistral.mistral-large-3-675b-instruct': { toolChoice: 'any', shortToolIds: true, schemas: true },
  'openai.gpt-oss-120b-1:0': { reasoning: 'effort', alwaysReasons: true, schemas: true, toolChoice: 'named' },
  'deepseek.v3-v1:0': { reasoning: 'effort', alwaysReasons: false, toolChoice: 'any' },
  'us.deepseek.r1-v1:0': { ...PLAIN, toolChoice: 'auto' },
  'someone.model-yet-to-come': { ...PLAIN, toolChoice: 'named', caching: false, toolCaching: false, topK: 'none' },
}

describe('bedrock: facts about models', () => {
  for (const [model, facts] of Object.entries(KNOWN)) {
    it(model, () => expect(factsOf(model)).to.include(facts))
  }

  it('models.json matches the schema', () => {
    const table = Type.Record(Type.String(), Type.Partial(Facts, { additionalProperties: false }))
    expect([...Value.Errors(table, shipped)]).to.deep.equal([])
  })

  it('are all on the docs page', () => {
    expect(namesIn(providerPage('bedrock'), 'fact')).to.deep.equal(Object.keys(Facts.properties))
  })

  it("come from the operator's rows first, also for an application inference profile", () => {
    const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12cd34'
    const own = { '*/ab12cd34': { reasoning: 'budget', sampling: 'one' }, '*claude-opus-4-7*': { schemas: true } } as const
    expect(factsOf(profile, own)).to.include({ reasoning: 'budget', sampling: 'one', caching: false })
    expect(factsOf('us.anthropic.claude-opus-4-7', own)).to.include({ schemas: true, caching: true })
  })
})

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

  it('models and inference profiles are read with the credential', async () => {
    const models = [
      model('amazon.nova-pro-v1:0', { modelName: 'Nova Pro', inputModalities: ['TEXT', 'IMAGE'], outputModalities: ['TEXT'] }),
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
    const nova = { owned_by: 'amazon', name: 'Nova Pro', input_modalities: ['text', 'image'], output_modalities: ['text'] }
    expect(await discover()).to.deep.equal([
      { id: 'amazon.nova-pro-v1:0', ...nova },
      { id: 'us.anthropic.claude-sonnet-4-6', owned_by: 'anthropic' },
      { id: `${ARN}:123456789012:inference-profile/ab12`, ...nova },
    ])
    const asked = upstream.requests.map(({ method, path }) => `${method} ${path}`)
    expect(asked).to.have.members(['GET /foundation-models?byOutputModality=TEXT', 'GET /inference-profiles?maxResults=1000'])
    for (const { headers } of upstream.requests) expect(headers.authorization).to.equal('Bearer bedrock-api-key-of-test')
  })

  it('all pages are read with signed requests', async () => {
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

  it('an endless list, or one that repeats its cursor, ends', async () => {
    answer({}, () => ({ nextToken: `page-${upstream.requests.length}` }))
    await discover()
    expect(upstream.requests).to.have.length(31)
    answer({}, () => ({ nextToken: 'same' }))
    await discover()
    expect(upstream.requests).to.have.length(31 + 3)
  })

  it('discoveryUrl may differ from baseUrl', async () => {
    answer({ modelSummaries: [model('m')] }, () => ({}))
    const elsewhere = { baseUrl: 'https://runtime.invalid', discoveryUrl: `${upstream.origin}/control/` }
    upstream.on(({ path }) => json(path.startsWith('/control/foundation-models') ? { modelSummaries: [model('m')] } : {}))
    expect(await discover(elsewhere)).to.deep.equal([{ id: 'm', owned_by: 'amazon' }])
  })

  it('the error for a refused credential does not contain it', async () => {
    upstream.on(() => json({ message: 'No.' }, { status: 403 }))
    const failure: unknown = await discover().catch((error: unknown) => error)
    expect(String(failure)).to.match(/status 403/)
    expect(String(failure)).to.not.include('bedrock-api-key')
  })
})
