import { expect } from 'chai'
import { Home } from './umg.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n'

describe('Keys created by the command line beside a running gateway', () => {
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

  it('are valid immediately, and refused soon after their revocation', async () => {
    const { id, secret } = JSON.parse(await keys('create', '--name', 'beside', '--models', 'sandbox/hello', '--json'))
    expect(await listed(secret)).to.deep.equal({ status: 200, models: ['sandbox/hello'] })
    await keys('revoke', id)
    // It never comes back: one refusal is the end of it.
    while ((await listed(secret)).status !== 401);
    expect(await keys('list')).to.match(new RegExp(`^${id} +beside .* revoked$`, 'm'))
  })
})
