import { expect } from 'chai'
import { onEachDatabase } from '../../support/databases.ts'
import { refusalOf } from './api-client.ts'
import { type Fixture, startFixture } from './fixture.ts'

onEachDatabase('the management API', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  after(() => fixture?.stop())

  it('refuses a body in which a name stands twice, as /v1 does', async () => {
    const response = await fetch(`${fixture.gateway.url}/api/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.adminKey}`, 'content-type': 'application/json' },
      body: '{"name":"p","name":"q"}',
    })
    expect(await refusalOf(response)).to.deep.equal([400, 'duplicate_parameter'])
  })

  for (const [letter, name] of [
    ['\u200B', 'a zero-width space'],
    ['\uFEFF', 'a byte-order mark'],
    ['\u00AD', 'a soft hyphen'],
    ['\u3164', 'a Hangul filler'],
    ['\u{E0061}', 'a tag character'],
  ] as const) {
    it(`refuses names of keys, accounts and users with ${name}, which look like others`, async () => {
      const looksAlike = `night${letter}ly`
      const refused = [
        await fixture.program.post('/keys', { name: looksAlike, kind: 'live', models: ['*'] }),
        await fixture.program.post('/accounts', { name: looksAlike, models: ['*'] }),
        await fixture.program.patch(`/users/${fixture.memberId}`, { name: looksAlike }),
        await fixture.program.patch(`/accounts/${fixture.account}`, { name: looksAlike }),
      ]
      expect(refused.map(({ status, body }) => [status, body.param])).to.deep.equal(Array(4).fill([400, 'name']))
    })
  }
})
