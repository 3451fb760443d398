import { expect } from 'chai'
import { json, type ReceivedRequest, type Script } from '../../../../core/testing/kit.ts'
import { anthropic } from '../../sdk/anthropic-dialect.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { cleanReply } from './assertions.ts'
import { call, healthOf, servedBy } from './client.ts'
import { type FailoverFixture, startFailover } from './fixture.ts'

/** A provider that gets a new credential when the one before was refused. */
const RENEWING = `
import { defineProvider, Type } from 'unified-model-gateway/plugin'
export default defineProvider({
  apiVersion: 1,
  name: 'renewing',
  schema: Type.Object({ origin: Type.String() }),
  create({ origin }) {
    let number = 1
    return {
      parameters: 'verbatim',
      refreshes: true,
      request(call, { model, credentialRefused }) {
        if (credentialRefused) number++
        const headers = { ...call.headers, authorization: 'Bearer token-' + number }
        return { origin, path: '/v1/chat/completions', headers, body: call.splice({ model }) }
      },
    }
  },
})
`

describe('A target whose credential is refused', () => {
  let fixture: FailoverFixture

  beforeEach(async () => {
    fixture = await startFailover({
      files: { 'renewing.ts': RENEWING },
      others: ({ first }) => ({
        renewing: { provider: './renewing.ts', config: { origin: first } },
        renewable: { models: { m: { targets: [{ model: 'renewing/m' }], fallbacks: ['open-second/m'] } } },
        fixed: { models: { m: { targets: [{ model: 'open-first/m' }], fallbacks: ['claude-second/m'] } } },
      }),
    })
    fixture.second.on(() => cleanReply(openai, false))
  })
  afterEach(() => fixture?.stop())

  /** The first upstream takes one token only. Resolves to those that it has been shown. */
  function accepting(token: string): string[] {
    const shown: string[] = []
    fixture.first.on(({ headers }: ReceivedRequest): Script => {
      shown.push(String(headers.authorization))
      return headers.authorization === `Bearer ${token}`
        ? cleanReply(openai, false)
        : json(openai.error(401, 'No.'), { status: 401 })
    })
    return shown
  }

  it('is called again with a new credential if its provider can get one', async () => {
    const shown = accepting('token-2')
    expect(servedBy(await call(fixture, { model: 'renewable/m' }))).to.equal('2 renewing')
    expect(servedBy(await call(fixture, { model: 'renewable/m' }))).to.equal('1 renewing')
    expect(shown).to.deep.equal(['Bearer token-1', 'Bearer token-2', 'Bearer token-2'])
  })

  it('cools down if the new credential is refused too, and the next target serves', async () => {
    const shown = accepting('nothing')
    expect(servedBy(await call(fixture, { model: 'renewable/m' }))).to.equal('3 open-second')
    expect(await healthOf(fixture, 'renewing/m')).to.match(/^\[-\] closed, cooling down for (?:60|5\d) s/)
    expect(servedBy(await call(fixture, { model: 'renewable/m' }))).to.equal('1 open-second')
    expect(shown).to.deep.equal(['Bearer token-1', 'Bearer token-2'])
  })

  it('is called once and cools down if there is no new credential', async () => {
    const shown = accepting('nothing')
    fixture.second.on(() => cleanReply(anthropic, false))
    expect(servedBy(await call(fixture, { model: 'fixed/m' }))).to.equal('2 claude-second')
    expect(servedBy(await call(fixture, { model: 'fixed/m' }))).to.equal('1 claude-second')
    expect(shown).to.deep.equal([`Bearer ${openai.apiKey}`])
  })

  it('keeps it from the next target, which uses its own', async () => {
    accepting('nothing')
    fixture.second.on(() => cleanReply(anthropic, false))
    await call(fixture, { model: 'fixed/m' })
    const [asked] = fixture.second.requests
    expect(asked!.headers['x-api-key']).to.equal(anthropic.apiKey)
    expect(JSON.stringify([asked!.headers, asked!.body.toString()])).not.to.contain(openai.apiKey)
  })
})
