// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { generateKeyPairSync } from 'node:crypto'
import { PRESET_VENDORS, PROVIDER_VENDORS } from '../../../core/limits/prices/vendors.ts'
import { json, type RequestHandler, sse } from '../../../core/testing/kit.ts'
import { PRESETS } from '../../../plugins/providers/openai-compatible/presets.ts'
import { VENDORS, type Vendor } from '../clients/vendors.ts'

/** A namespace as users write it, with no address unless the provider requires one, and the vendor behind it. */
export interface AsShipped {
  /** Of its namespace, also in titles of tests. */
  readonly name: string
  readonly provider: string
  readonly config: Readonly<Record<string, unknown>>
  /** Where the vendor is. */
  readonly addresses: readonly string[]
  /** The vendor of genai-prices whose list prices apply. */
  readonly prices?: string
  /** Called models; absent: one with a list price. */
  readonly model?: string
  /** The vendor's reply to requests for its models, if it has such a list; `path`: of the request. */
  list?(model: string, path: string): object
  readonly speaks: Vendor
  /** A server on the operator's machine: its address is given by `baseUrl`, as a test cannot claim its port. */
  readonly isLocal?: true
}

/** The variables that the namespaces refer to. */
export const KEYS = {
  TEST_KEY: 'vendor-key',
  TEST_ACCOUNT: JSON.stringify({
    type: 'service_account',
    client_email: 'umg@acme-ai.iam.gserviceaccount.com',
    private_key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }),
}

const KEY = '${env:TEST_KEY}'
const speaker = (name: string): Vendor => VENDORS.find((vendor) => vendor.name === name)!

const openaiList = (id: string) => ({ object: 'list', data: [{ id, object: 'model', created: 1, owned_by: 'vendor' }] })
const googleList = (name: string) => ({ models: [{ name: `models/${name}`, supportedGenerationMethods: ['generateContent'] }] })
const vertexList = (publisher: string) => (name: string, path: string) => ({
  publisherModels: path.includes(`/publishers/${publisher}/`) ? [{ name: `publishers/${publisher}/models/${name}` }] : [],
})
const bedrockList = (modelId: string, path: string) =>
  path.startsWith('/inference-profiles')
    ? { inferenceProfileSummaries: [] }
    : {
        modelSummaries: [
          { modelId, providerName: 'Anthropic', inferenceTypesSupported: ['ON_DEMAND'], modelLifecycle: { status: 'ACTIVE' } },
        ],
      }

type Row = Omit<AsShipped, 'prices'>

const PROVIDERS: readonly Row[] = [
  {
    name: 'anthropic',
    provider: 'anthropic',
    config: { apiKey: KEY },
    addresses: ['https://api.anthropic.com'],
    list: openaiList,
    speaks: speaker('anthropic'),
  },
  {
    name: 'azure-openai',
    provider: 'azure-openai',
    config: { baseUrl: 'https://acme.openai.azure.com', apiKey: KEY },
    addresses: ['https://acme.openai.azure.com'],
    speaks: speaker('azure-openai'),
  },
  {
    name: 'bedrock',
    provider: 'bedrock',
    config: { region: 'us-east-1', apiKey: KEY },
    addresses: ['https://bedrock-runtime.us-east-1.amazonaws.com', 'https://bedrock.us-east-1.amazonaws.com'],
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    list: bedrockList,
    speaks: speaker('bedrock'),
  },
  {
    name: 'cohere',
    provider: 'cohere',
    config: { apiKey: KEY },
    addresses: ['https://api.cohere.com'],
    list: (name) => ({ models: [{ name }] }),
    speaks: speaker('cohere'),
  },
  {
    name: 'gemini',
    provider: 'gemini',
    config: { apiKey: KEY },
    addresses: ['https://generativelanguage.googleapis.com'],
    model: 'gemini-2.5-pro',
    list: googleList,
    speaks: speaker('gemini'),
  },
  {
    name: 'ollama',
    provider: 'ollama',
    config: {},
    addresses: [],
    model: 'gpt-oss:20b',
    list: (name) => ({ models: [{ name, capabilities: ['completion'] }] }),
    speaks: speaker('ollama'),
    isLocal: true,
  },
  {
    name: 'vertex-gemini',
    provider: 'vertex',
    config: { project: 'acme-ai', credentials: '${env:TEST_ACCOUNT}' },
    addresses: ['https://aiplatform.googleapis.com'],
    model: 'gemini-2.5-pro',
    list: vertexList('google'),
    speaks: speaker('vertex-gemini'),
  },
  {
    name: 'vertex-claude',
    provider: 'vertex',
    config: { project: 'acme-ai', region: 'us-east5', credentials: '${env:TEST_ACCOUNT}' },
    addresses: ['https://us-east5-aiplatform.googleapis.com'],
    model: 'claude-sonnet-4-5',
    list: vertexList('anthropic'),
    speaks: speaker('vertex-claude'),
  },
]

const presetRows: readonly AsShipped[] = Object.entries(PRESETS).map(([preset, row]) => {
  const isLocal = !('keyVariable' in row)
  const prices = PRESET_VENDORS[preset]
  return {
    name: `preset-${preset}`,
    provider: 'openai-compatible',
    config: isLocal ? { preset } : { preset, apiKey: KEY },
    addresses: isLocal ? [] : [row.baseUrl],
    ...(prices === undefined ? { model: 'vendor/some-model' } : { prices }),
    list: openaiList,
    speaks: speaker('openai-compatible'),
    ...(isLocal && { isLocal }),
  }
})

/** Every provider that has an upstream, and every preset. */
export const AS_SHIPPED: readonly AsShipped[] = [
  ...PROVIDERS.map((row) => {
    const prices = PROVIDER_VENDORS[row.provider]
    return { ...row, ...(prices !== undefined && { prices }) }
  }),
  ...presetRows,
]

/** A vendor that says `Hello.` and has one model. */
export const vendorOf =
  ({ list, speaks }: AsShipped, model: string): RequestHandler =>
  ({ method, path, body }) => {
    if (method === 'GET')
      return list === undefined ? json({ error: { message: 'Not found.' } }, { status: 404 }) : json(list(model, path))
    const { whole, stream } = speaks.reply({ text: 'Hello.' }, path)
    const isStream = /stream/i.test(path) || (JSON.parse(body.toString()) as { stream?: boolean }).stream === true
    return isStream ? sse(stream, { headers: { 'content-type': speaks.streamType ?? 'text/event-stream' } }) : json(whole)
  }

/** Google's endpoint of tokens. */
export const GOOGLE_TOKENS: Readonly<Record<string, RequestHandler>> = {
  'https://oauth2.googleapis.com/token': () => json({ access_token: 'token-1', expires_in: 3600, token_type: 'Bearer' }),
  'https://www.googleapis.com/oauth2/v4/token': () => json({ access_token: 'token-1', expires_in: 3600, token_type: 'Bearer' }),
}
