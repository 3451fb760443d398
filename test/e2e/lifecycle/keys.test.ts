import { expect } from 'chai'
import { until } from '../../support/poll.ts'
import { Home } from './umg.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n'

describe('keys created while a gateway runs', () => {
  let home: Home
  let url: string

  before(async () => {
    home = await Home.create({ 'routes.yaml': ROUTES })
    url = (await home.start()).url
  })

  after(() => home?.remove())

  const keys = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(['keys', ...args]).ended
    expect(code, stderr).to.equal(0)
    return stdout
  }

  const listed = async (secret: string) => {
    const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
    const { data } = (await reply.json()) as { data?: { id: string }[] }
    return { status: reply.status, models: data?.map(({ id }) => id) }
  }

  it('are valid at once, and refused soon after they are revoked', async () => {
    const { id, secret } = JSON.parse(await keys('create', '--name', 'later', '--models', 'sandbox/hello', '--json'))
    expect(await listed(secret)).to.deep.equal({ status: 200, models: ['sandbox/hello'] })
    await keys('revoke', id)
    // Refused once, the key stays refused.
    await until(async () => (await listed(secret)).status === 401)
    expect(await keys('list')).to.match(new RegExp(`^${id} +later .* revoked$`, 'm'))
  })
})
