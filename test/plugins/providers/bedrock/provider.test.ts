import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { TObject } from 'typebox'
import { GatewayError, Secret, type UpstreamRequest } from 'unified-model-gateway/plugin'
import { type PluginConfig, testAttempt, testCall } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/bedrock/index.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'
import { bedrock, upstream } from './support.ts'

const KEYS = { apiKey: undefined, accessKeyId: new Secret('AKIAEXAMPLE'), secretAccessKey: new Secret('very-secret') }

const opened = (value: string | Secret | undefined): string => (value instanceof Secret ? value.reveal() : String(value))

describe('bedrock: the address of a call', () => {
  it('is Converse in the region', async () => {
    const { origin, path } = await upstream({ model: 'amazon.nova-pro-v1:0' }, { region: 'eu-north-1' })
    expect(origin + path).to.equal('https://bedrock-runtime.eu-north-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse')
  })

  it('encodes the colons and slashes of an ARN', async () => {
    const model = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0'
    expect((await upstream({ model, stream: true })).path).to.equal(
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.amazon.nova-pro-v1%3A0/converse-stream',
    )
    expect((await upstream({ model: '../../x?y#z' })).path).to.equal('/model/..%2F..%2Fx%3Fy%23z/converse')
  })

  for (const [baseUrl, address] of [
    [
      'https://vpce-0a1b.bedrock-runtime.us-east-1.vpce.amazonaws.com',
      'https://vpce-0a1b.bedrock-runtime.us-east-1.vpce.amazonaws.com/model/m/converse',
    ],
    ['http://127.0.0.1:8081/aws/', 'http://127.0.0.1:8081/aws/model/m/converse'],
  ]) {
    it(`has the baseUrl ${baseUrl}`, async () => {
      const { origin, path } = await upstream({ model: 'm' }, { baseUrl })
      expect(origin + path).to.equal(address)
    })
  }

  it('refuses an invalid baseUrl and region, and says what to give instead', async () => {
    const failure = async (config: PluginConfig) => String(await bedrock(config).catch((error: unknown) => error))
    expect(await failure({ baseUrl: 'https://' })).to.contain(
      'baseUrl must be an http or https URL: give the address before /model,',
    )
    expect(await failure({ discoveryUrl: 'https://' })).to.contain(
      'discoveryUrl must be an http or https URL: give the address before /foundation-models',
    )
    expect(await failure({ region: 'Frankfurt' })).to.contain('region')
  })

  it('a guardrail is sent with every call', async () => {
    const { body } = await upstream({}, { guardrail: { id: 'gr-1', version: 'DRAFT' } })
    expect(JSON.parse(String(body)).guardrailConfig).to.deep.equal({ guardrailIdentifier: 'gr-1', guardrailVersion: 'DRAFT' })
  })

  it('configured facts are used', async () => {
    const { body } = await upstream({ model: 'm', reasoning_effort: 'low' }, { facts: { m: { reasoning: 'effort' } } })
    expect(JSON.parse(String(body)).additionalModelRequestFields).to.deep.equal({ reasoning_effort: 'low' })
  })
})

describe('bedrock: the docs page', () => {
  it('lists every option', () => {
    expect(namesIn(providerPage('bedrock'), 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
  })
})

describe('bedrock: credentials', () => {
  it('an API key is a bearer token', async () => {
    const { headers } = await upstream({})
    expect(opened(headers.authorization)).to.equal('Bearer bedrock-api-key-of-test')
    expect(headers).not.to.have.property('x-amz-date')
  })

  it('neither the credential nor the signature is in any printed form', async () => {
    const sessionToken = new Secret('session-secret')
    for (const config of [{}, { ...KEYS, sessionToken }]) {
      const text = JSON.stringify(await upstream({}, config))
      expect(text).not.to.match(/bedrock-api-key-of-test|very-secret|session-secret|Signature/)
    }
  })

  it("the call's headers are kept, cannot replace the signature, and AWS's are signed", async () => {
    const call = testCall({})
    const headers = { ...call.headers, 'x-request-id': 'req_1', authorization: 'Bearer stolen', 'x-amz-custom': 'yes' }
    Object.defineProperty(call, 'headers', { value: headers })
    const sent = (await (await bedrock(KEYS)).request(call, testAttempt(call))) as UpstreamRequest
    expect(sent.headers).to.include({ 'x-request-id': 'req_1', 'x-amz-custom': 'yes' })
    expect(opened(sent.headers.authorization)).to.match(
      /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-custom;x-amz-date, /,
    )
    expect(sent.headers).not.to.have.property('host')
  })

  it('half a key and two kinds of keys are refused, and the error says what to correct', async () => {
    const failure = async (config: PluginConfig) => String(await bedrock(config).catch((error: unknown) => error))
    expect(await failure({ ...KEYS, secretAccessKey: undefined })).to.contain(
      'accessKeyId needs secretAccessKey: give both or neither',
    )
    expect(await failure({ ...KEYS, apiKey: new Secret('key') })).to.contain('accessKeyId excludes apiKey')
    expect(await failure({ apiKey: undefined, sessionToken: new Secret('t') })).to.contain('sessionToken belongs to')
  })
})

describe('bedrock: without configured credentials', () => {
  const AWS = /^AWS_/
  let before: NodeJS.ProcessEnv
  let folder: string

  beforeEach(async () => {
    before = { ...process.env }
    folder = await mkdtemp(join(tmpdir(), 'umg-aws-'))
    for (const name of Object.keys(process.env)) if (AWS.test(name)) delete process.env[name]
    const nowhere = { AWS_EC2_METADATA_DISABLED: 'true', AWS_CONFIG_FILE: join(folder, 'config') }
    Object.assign(process.env, nowhere, { AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials') })
  })

  afterEach(async () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
    await rm(folder, { recursive: true })
  })

  const keyOf = ({ headers }: UpstreamRequest) => /Credential=(\w+)\//.exec(opened(headers.authorization))?.[1]

  it('those of the environment are used, with the session token', async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'ASIAENV', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 'token' })
    const request = await upstream({}, { apiKey: undefined })
    expect(keyOf(request)).to.equal('ASIAENV')
    expect(opened(request.headers['x-amz-security-token'])).to.equal('token')
  })

  it('those of the shared file are kept, and read again after a refusal', async () => {
    const profile = (key: string) => `[default]\naws_access_key_id = ${key}\naws_secret_access_key = s\n`
    await writeFile(join(folder, 'credentials'), profile('AKIAONE'))
    const provider = await bedrock({ apiKey: undefined })
    expect(provider.refreshes).to.equal(true)
    const call = testCall({})
    const send = async (credentialRefused: boolean) =>
      keyOf((await provider.request(call, testAttempt(call, { credentialRefused }))) as UpstreamRequest)
    expect(await send(false)).to.equal('AKIAONE')
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'AKIATWO', AWS_SECRET_ACCESS_KEY: 's' })
    expect(await send(false)).to.equal('AKIAONE')
    expect(await send(true)).to.equal('AKIATWO')
  })

  it('missing ones are an upstream_authentication_error', async () => {
    const failure: unknown = await upstream({}, { apiKey: undefined }).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(GatewayError).and.to.include({ row: 'upstream_authentication_error' })
  })
})
