import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import nock from 'nock'
import { type GatewayError, Secret } from 'unified-model-gateway/plugin'
import { testAttempt, testCall } from 'unified-model-gateway/plugin/testing'
import { interceptHttp } from '../../../support/intercept-http.ts'
import { onGoogleCloud } from './google-cloud.ts'
import { authorizationOf, send, vertex } from './vertex.ts'

const GEMINI = { model: 'vertex/gemini-2.5-pro' }

async function refused(sending: Promise<unknown>): Promise<GatewayError> {
  return (await sending.then(
    () => expect.fail('a request was made'),
    (error: unknown) => error,
  )) as GatewayError
}

describe('vertex: the credentials of the machine', () => {
  const metadata = onGoogleCloud()

  it('are requested once and sent as a header', async () => {
    const provider = await vertex()
    const requests = [await send(provider, GEMINI), await send(provider, GEMINI)]
    expect(requests.map(authorizationOf)).to.deep.equal(['Bearer token-1', 'Bearer token-1'])
    expect(requests[0]!.headers.authorization).to.be.instanceOf(Secret)
    expect(JSON.stringify(requests)).not.to.contain('token-1')
    expect(metadata.tokens).to.equal(1)
  })

  it('read the buckets for callers that its config allows', async () => {
    const provider = await vertex({ addresses: ['gs://company/*'] })
    expect(provider.addresses).to.deep.equal(['gs://company/*'])
    expect(provider.ownHosts).to.include('generativelanguage.googleapis.com')
    expect((await vertex()).addresses).to.deep.equal([])
  })

  it('are requested once more after a refusal', async () => {
    const provider = await vertex()
    expect(provider.refreshes).to.equal(true)
    const call = testCall(GEMINI)
    const ask = async (credentialRefused: boolean) =>
      authorizationOf((await provider.request(call, testAttempt(call, { credentialRefused }))) as never)
    expect(await ask(false)).to.equal('Bearer token-1')
    expect(await ask(true)).to.equal('Bearer token-2')
    expect(metadata.tokens).to.equal(2)
  })

  it('are not requested again if another call renewed them', async () => {
    const provider = await vertex()
    const calls = [testCall(GEMINI), testCall(GEMINI)]
    for (const call of calls) await provider.request(call, testAttempt(call))
    const again = []
    for (const call of calls) again.push(await provider.request(call, testAttempt(call, { credentialRefused: true })))
    expect(again.map((request) => authorizationOf(request as never))).to.deep.equal(['Bearer token-2', 'Bearer token-2'])
  })

  it('that Google refuses are an upstream_authentication_error, not a 401', async () => {
    metadata.status = 403
    const error = await refused(send(await vertex(), GEMINI))
    expect(error).to.include({ row: 'upstream_authentication_error', status: 400 })
    expect(error.cause).to.include({ code: 'HTTP_403' })
    expect(JSON.stringify(error.cause) + (error.cause as Error).message).not.to.contain('of-the-server')
  })

  it('that Google refuses fail discovery with the reason', async () => {
    metadata.status = 403
    const error = await refused((await vertex()).models!(AbortSignal.timeout(1000)))
    expect(error.message).to.equal('Google gave no access token: HTTP_403; check the credentials')
  })

  it('that cannot be requested are an upstream_unreachable error', async () => {
    nock.cleanAll()
    nock('http://169.254.169.254')
      .persist()
      .get(/./)
      .replyWithError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    const error = await refused(send(await vertex(), GEMINI))
    expect(error).to.include({ row: 'upstream_unreachable', status: 502 })
  })
})

describe('vertex: the credentials of GOOGLE_APPLICATION_CREDENTIALS', () => {
  onGoogleCloud()
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-vertex-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  it('may be of another identity provider, exchanged for a token', async () => {
    const exchange = nock('https://sts.googleapis.com')
      .post('/v1/token', (body) => body.subject_token === 'token-of-another')
      .reply(200, { access_token: 'exchanged', expires_in: 3600, token_type: 'Bearer', issued_token_type: 'x' })
    await writeFile(join(folder, 'subject'), 'token-of-another')
    const account = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: 'https://sts.googleapis.com/v1/token',
      credential_source: { file: join(folder, 'subject') },
    }
    await writeFile(join(folder, 'adc.json'), JSON.stringify(account))
    process.env.GOOGLE_APPLICATION_CREDENTIALS = join(folder, 'adc.json')
    expect(authorizationOf(await send(await vertex(), GEMINI))).to.equal('Bearer exchanged')
    expect(exchange.isDone()).to.equal(true)
  })
})

describe('vertex: the key of a service account', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const KEY = {
    type: 'service_account',
    client_email: 'gateway@acme-ai.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    private_key_id: 'k1',
  }
  const withKey = (key: unknown) => vertex({ credentials: new Secret(typeof key === 'string' ? key : JSON.stringify(key)) })

  interceptHttp()

  it('signs a request for a token, which is kept', async () => {
    nock('https://oauth2.googleapis.com')
      .post('/token', ({ assertion }) => typeof assertion === 'string')
      .reply(200, { access_token: 'of-the-account', expires_in: 3600, token_type: 'Bearer' })
    const provider = await withKey(KEY)
    for (let turn = 0; turn < 2; turn++) {
      expect(authorizationOf(await send(provider, GEMINI))).to.equal('Bearer of-the-account')
    }
  })

  it('that Google refuses is an upstream_authentication_error', async () => {
    nock('https://oauth2.googleapis.com')
      .post('/token')
      .reply(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
    const error = await refused(send(await withKey(KEY), GEMINI))
    expect(error).to.include({ row: 'upstream_authentication_error' })
    expect(error.cause).to.include({ code: 'INVALID_GRANT' })
  })

  for (const [what, key] of [
    ['not JSON', '/run/secrets/vertex.json'],
    ['not an object', '[]'],
    ['of another kind', { ...KEY, type: 'authorized_user' }],
    ['without its private key', { ...KEY, private_key: undefined }],
  ] as const) {
    it(`cannot be ${what}, and the error does not quote it`, async () => {
      const failure = await withKey(key).catch((error: unknown) => error)
      expect(String(failure)).to.contain('credentials is not the JSON key of a service account; give the content of its file.')
      expect(String(failure)).not.to.contain('PRIVATE')
    })
  }
})
