import type { AccessToken, TokenCredential } from '@azure/identity'
import { expect } from 'chai'
import type { Secret, UpstreamRequest } from 'unified-model-gateway/plugin'
import { createProvider, testAttempt, testCall } from 'unified-model-gateway/plugin/testing'
import { addressOf } from '../../../../plugins/providers/azure-openai/address.ts'
import { EntraCredentials } from '../../../../plugins/providers/azure-openai/credentials.ts'
import plugin from '../../../../plugins/providers/azure-openai/index.ts'
import { onAppService } from './managed-identity.ts'

const HOUR = 3_600_000

/** A source of tokens `1-1`, `1-2` …, opened again `2-1` and so on; `next` throws or returns others. */
class FakeSource {
  opened = 0
  readonly asked: unknown[] = []
  next: () => Partial<AccessToken> | null = () => ({})

  readonly open = async (): Promise<TokenCredential> => {
    const opening = ++this.opened
    let tokens = 0
    return {
      getToken: async (scope) => {
        this.asked.push(scope)
        const told = this.next()
        return told && { token: `${opening}-${++tokens}`, expiresOnTimestamp: Date.now() + HOUR, ...told }
      },
    }
  }
}

const SCOPE = 'https://cognitiveservices.azure.com/.default'
const refused = { credentialRefused: true }

function entra() {
  const source = new FakeSource()
  const credentials = new EntraCredentials(SCOPE, source.open)
  const tokenFor = async (call = testCall(), attempt: Parameters<typeof testAttempt>[1] = {}) => {
    const { authorization } = await credentials.forCall(call, testAttempt(call, attempt))
    return (authorization as Secret).reveal()
  }
  return { source, credentials, tokenFor }
}

const failureOf = async (promise: Promise<unknown>) => {
  const failure: unknown = await promise.catch((error: unknown) => error)
  return failure as { row: string; cause: { code: string; message: string } }
}

/** The library's error: its message quotes secrets. */
const thrown = (more: object) => Object.assign(new Error('AADSTS7000215: secret of tenant 1234'), more)

describe('azure-openai: tokens of Microsoft Entra ID', () => {
  describe('of a machine on App Service', () => {
    onAppService()

    it('are in a header, as a secret', async () => {
      const provider = await createProvider(plugin, { baseUrl: 'https://acme.openai.azure.com' })
      const call = testCall()
      const { headers } = (await provider.request(call, testAttempt(call))) as UpstreamRequest
      expect((headers.authorization as Secret).reveal()).to.equal('Bearer token-of-the-machine')
      expect(headers).not.to.have.property('api-key')
      expect(JSON.stringify(headers)).not.to.contain('token-of-the-machine')
    })
  })

  it('are kept, and requested once for concurrent calls', async () => {
    const { source, tokenFor } = entra()
    expect(await Promise.all([tokenFor(), tokenFor()])).to.deep.equal(['Bearer 1-1', 'Bearer 1-1'])
    expect(await tokenFor()).to.equal('Bearer 1-1')
    expect(source.asked).to.deep.equal([SCOPE])
  })

  for (const [when, told] of [
    ['five minutes before they expire', () => ({ expiresOnTimestamp: Date.now() + 299_000 })],
    ['when Entra says so', () => ({ refreshAfterTimestamp: Date.now() - 1 })],
  ] as const) {
    it(`are renewed ${when}`, async () => {
      const { source, tokenFor } = entra()
      source.next = told
      expect([await tokenFor(), await tokenFor()]).to.deep.equal(['Bearer 1-1', 'Bearer 1-2'])
    })
  }

  it("that Azure refuses are requested again, without the library's cache", async () => {
    const { tokenFor } = entra()
    const call = testCall()
    expect([await tokenFor(call), await tokenFor(call, refused)]).to.deep.equal(['Bearer 1-1', 'Bearer 2-1'])
  })

  it('are not requested again if another call renewed them', async () => {
    const { source, tokenFor } = entra()
    const calls = [testCall(), testCall()] as const
    await Promise.all(calls.map((call) => tokenFor(call)))
    for (const call of calls) expect(await tokenFor(call, refused)).to.equal('Bearer 2-1')
    expect(source.opened).to.equal(2)
  })

  for (const [what, error, row, code] of [
    [
      'a refused secret',
      { statusCode: 401, errorResponse: { error: 'invalid_client' } },
      'upstream_authentication_error',
      'INVALID_CLIENT',
    ],
    ['overload of Entra', { statusCode: 503 }, 'upstream_overloaded', 'HTTP_503'],
    ['a rate limit of Entra', { statusCode: 429 }, 'upstream_overloaded', 'HTTP_429'],
    [
      'no source',
      { errors: [new Error('EnvironmentCredential is unavailable')] },
      'upstream_authentication_error',
      'NO_CREDENTIALS',
    ],
    [
      'several sources',
      { errors: [{}, { statusCode: 400, errorResponse: { error: 'invalid_grant' } }] },
      'upstream_authentication_error',
      'INVALID_GRANT',
    ],
  ] as const) {
    it(`are ${row} for ${what}, without the library's message`, async () => {
      const { source, tokenFor } = entra()
      source.next = () => {
        throw thrown(error)
      }
      const failure = await failureOf(tokenFor())
      expect(failure).to.include({ row })
      expect(failure.cause).to.include({ code })
      expect(failure.cause.message).to.contain('check the credentials').and.not.contain('1234')
    })
  }

  it('that concurrent calls share fail alike for all of them', async () => {
    const { source, tokenFor } = entra()
    source.next = () => {
      throw thrown({ statusCode: 503 })
    }
    for (const failure of await Promise.all([failureOf(tokenFor()), failureOf(tokenFor()), failureOf(tokenFor())]))
      expect(failure).to.include({ row: 'upstream_overloaded' })
    expect(source.asked).to.have.length(1)
  })

  it('are requested again after a failure', async () => {
    const { source, tokenFor } = entra()
    source.next = () => null
    expect((await failureOf(tokenFor())).cause).to.include({ code: 'NO_CREDENTIALS' })
    source.next = () => ({})
    expect(await tokenFor()).to.equal('Bearer 1-1')
  })

  it('that are missing fail the check with a reason', async () => {
    const { source, credentials } = entra()
    source.next = () => null
    const failure: unknown = await credentials.headers().catch((error: unknown) => error)
    expect(String(failure)).to.equal(
      'Error: Microsoft Entra ID gave no token: NO_CREDENTIALS; check the credentials, or set apiKey',
    )
  })

  for (const [host, scope] of [
    ['acme.openai.azure.com', SCOPE],
    ['acme.services.ai.azure.com', SCOPE],
    ['proxy.example.com', SCOPE],
    ['acme.openai.azure.us', 'https://cognitiveservices.azure.us/.default'],
    ['acme.openai.azure.cn', 'https://cognitiveservices.azure.cn/.default'],
  ]) {
    it(`have the scope ${scope} for ${host}`, () => {
      expect(addressOf(`https://${host}`).scope).to.equal(scope)
    })
  }
})
