import { expect } from 'chai'
import { type Fixture, startFixture } from '../clients/fixture.ts'
import { VENDORS, type Vendor } from '../clients/vendors.ts'

const vendor = (name: string, model: string): Vendor => ({ ...VENDORS.find((one) => one.name === name)!, name, model })

const tool = (name: string) => ({ type: 'function', function: { name } })
const marked = (name: string) => ({ ...tool(name), cache_control: { type: 'ephemeral' } })
const strict = (more: object) => {
  const parameters = { type: 'object', properties: { at: { type: 'number' } }, additionalProperties: false, ...more }
  return { type: 'function', function: { name: 'look', strict: true, parameters } }
}
const spec = (name: string) => ({ toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } })
const POINT = { cachePoint: { type: 'default' } }

/** What models get of parameters that OpenAI's protocol, or their vendor's, has under another name. */
const CASES: readonly { vendor: Vendor; asked: object; gets: object; dropped?: string }[] = [
  { vendor: vendor('anthropic', 'claude-haiku-4-5'), asked: { top_k: 40 }, gets: { top_k: 40 } },
  { vendor: vendor('anthropic', 'claude-opus-5'), asked: { top_k: 40 }, gets: {}, dropped: 'top_k' },
  { vendor: vendor('anthropic', 'claude-opus-5'), asked: { user: 'u-1' }, gets: { metadata: { user_id: 'u-1' } } },
  {
    vendor: vendor('vertex-claude', 'claude-haiku-4-5'),
    asked: { safety_identifier: 'u-1' },
    gets: { metadata: { user_id: 'u-1' } },
  },
  { vendor: vendor('gemini', 'gemini-2.5-pro'), asked: { top_k: 40 }, gets: { generationConfig: { topK: 40 } } },
  { vendor: vendor('gemini', 'gemini-3.6-flash'), asked: { top_k: 40 }, gets: {}, dropped: 'top_k' },
  { vendor: vendor('cohere', 'command-a-03-2025'), asked: { top_k: 40 }, gets: { k: 40 } },
  {
    vendor: vendor('bedrock', 'us.anthropic.claude-sonnet-4-6'),
    asked: { top_k: 40, metadata: { team: 'blue' } },
    gets: { additionalModelRequestFields: { top_k: 40 }, requestMetadata: { team: 'blue' } },
  },
  {
    vendor: vendor('bedrock', 'us.amazon.nova-pro-v1:0'),
    asked: { top_k: 40 },
    gets: { additionalModelRequestFields: { inferenceConfig: { topK: 40 } } },
  },
  {
    vendor: vendor('bedrock', 'us.anthropic.claude-sonnet-4-6'),
    asked: { tools: [marked('a'), tool('b'), marked('c')] },
    gets: { toolConfig: { tools: [spec('a'), POINT, spec('b'), spec('c'), POINT] } },
  },
  {
    vendor: vendor('bedrock', 'us.amazon.nova-pro-v1:0'),
    asked: { tools: [marked('a')] },
    gets: { toolConfig: { tools: [spec('a')] } },
    dropped: 'cache_control',
  },
  {
    vendor: vendor('bedrock', 'us.amazon.nova-pro-v1:0'),
    asked: { metadata: { team: 'blau/grün' } },
    gets: {},
    dropped: 'metadata',
  },
  {
    vendor: vendor('cohere', 'command-a-03-2025'),
    asked: { tools: [strict({ required: ['at'] })] },
    gets: { strict_tools: true },
  },
  {
    vendor: vendor('cohere', 'command-a-03-2025'),
    asked: { tools: [strict({ required: ['at'] }), tool('b')] },
    gets: {},
    dropped: 'tools.strict',
  },
  {
    vendor: vendor('cohere', 'command-a-03-2025'),
    asked: { tools: [strict({ required: ['at'], anyOf: [] })] },
    gets: {},
    dropped: 'tools.strict',
  },
  {
    vendor: vendor('cohere', 'command-r7b-12-2024'),
    asked: { tools: [strict({ required: ['at'] })] },
    gets: {},
    dropped: 'tools.strict',
  },
  { vendor: vendor('anthropic', 'claude-opus-5'), asked: { service_tier: 'default' }, gets: { service_tier: 'standard_only' } },
  { vendor: vendor('anthropic', 'claude-opus-5'), asked: { service_tier: 'auto' }, gets: {} },
  { vendor: vendor('anthropic', 'claude-opus-5'), asked: { service_tier: 'flex' }, gets: {}, dropped: 'service_tier' },
  {
    vendor: vendor('bedrock', 'us.amazon.nova-pro-v1:0'),
    asked: { service_tier: 'flex' },
    gets: { serviceTier: { type: 'flex' } },
  },
  { vendor: vendor('bedrock', 'us.amazon.nova-pro-v1:0'), asked: { service_tier: 'default' }, gets: {} },
  {
    vendor: vendor('bedrock', 'us.anthropic.claude-sonnet-4-6'),
    asked: { service_tier: 'priority' },
    gets: {},
    dropped: 'service_tier',
  },
  { vendor: vendor('gemini', 'gemini-2.5-pro'), asked: { service_tier: 'priority' }, gets: { serviceTier: 'priority' } },
  { vendor: vendor('gemini', 'gemini-2.5-pro'), asked: { service_tier: 'scale' }, gets: {}, dropped: 'service_tier' },
  { vendor: vendor('cohere', 'command-a-03-2025'), asked: { service_tier: 'priority' }, gets: {}, dropped: 'service_tier' },
  { vendor: vendor('ollama', 'gpt-oss:20b'), asked: { top_k: 40 }, gets: { options: { top_k: 40 } } },
]

const NAMES = [
  ...['top_k', 'topK', 'k', 'metadata', 'requestMetadata', 'options', 'generationConfig'],
  'additionalModelRequestFields',
  'toolConfig',
  'strict_tools',
  ...['service_tier', 'serviceTier'],
]

describe('Parameters that vendors have under names of their own', () => {
  let fixture: Fixture
  const vendors = [...new Map(CASES.map(({ vendor }) => [vendor.name, vendor])).values()]

  before(async () => {
    fixture = await startFixture(vendors)
  })
  after(() => fixture?.stop())

  for (const { vendor, asked, gets, dropped = '' } of CASES)
    it(`${vendor.model} gets ${JSON.stringify(asked)} as ${JSON.stringify(gets)}`, async () => {
      const model = fixture.models.get(vendors.find(({ name }) => name === vendor.name)!)!
      model.script([{ text: 'Hi' }])
      const reply = await fetch(`${fixture.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: `${vendor.name}/${vendor.model}`,
          messages: [{ role: 'user', content: 'Hi' }],
          ...asked,
        }),
      })
      expect(reply.status, await reply.text()).to.equal(200)
      expect(reply.headers.get('x-umg-params-dropped') ?? '').to.equal(dropped)
      const body: Record<string, unknown> = JSON.parse(model.asked[0]!.body)
      const sent = Object.fromEntries(NAMES.filter((name) => name in body).map((name) => [name, body[name]]))
      const { generationConfig, ...others } = sent as { generationConfig?: Record<string, unknown> }
      const topK = generationConfig?.topK === undefined ? {} : { generationConfig: { topK: generationConfig.topK } }
      expect({ ...others, ...topK }).to.deep.equal(gets)
    })
})
