import { expect } from 'chai'
import { beginSession } from '../../../core/accounts/sessions.ts'
import { LIFECYCLE_BASE, lifecycleOperations } from '../../../core/control/config.ts'
import type { Access } from '../../../core/control/operation.ts'
import { managementRouter } from '../../../core/control/router.ts'
import type { ManagementServices } from '../../../core/control/services.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { refusalOf } from './api-client.ts'
import { type Fixture, startFixture } from './fixture.ts'

/** The access of every operation. A new operation must be added here deliberately. */
const ROLES: Readonly<Record<Access, readonly string[]>> = {
  public: [
    'GET /api/v1/sign-in',
    'POST /api/v1/setup',
    'POST /api/v1/session',
    'GET /api/v1/oidc/start',
    'GET /api/v1/oidc/callback',
    'POST /api/v1/invitations/look',
    'POST /api/v1/invitations/accept',
  ],
  member: [
    'GET /api/v1/session',
    'DELETE /api/v1/session',
    'POST /api/v1/session/confirm',
    'DELETE /api/v1/sessions',
    'POST /api/v1/password',
    'GET /api/v1/accounts',
    'GET /api/v1/accounts/:id',
    'GET /api/v1/keys',
    'POST /api/v1/keys',
    'GET /api/v1/keys/:id',
    'PATCH /api/v1/keys/:id',
    'POST /api/v1/keys/:id/rotate',
    'POST /api/v1/keys/:id/revoke',
    'GET /api/v1/models',
    'GET /api/v1/usage',
    'GET /api/v1/usage.csv',
    'GET /api/v1/spend',
    'GET /api/v1/spend.csv',
    'GET /api/v1/spend.jsonl',
    'GET /api/v1/statement',
    'GET /api/v1/requests',
    'GET /api/v1/requests.csv',
    'GET /api/v1/requests.jsonl',
    'GET /api/v1/requests/live',
    'GET /api/v1/requests/:id',
    'GET /api/v1/openapi.json',
  ],
  admin: [
    'GET /api/v1/invitations',
    'POST /api/v1/invitations',
    'DELETE /api/v1/invitations/:id',
    'POST /api/v1/accounts',
    'PATCH /api/v1/accounts/:id',
    'GET /api/v1/users',
    'PATCH /api/v1/users/:id',
    'POST /api/v1/users/:id/end-sessions',
    'GET /api/v1/audit',
    'GET /api/v1/audit.csv',
    'GET /api/v1/config',
    'GET /api/v1/config/state',
    'GET /api/v1/routes',
    'POST /-/reload',
  ],
}

/** The routes that the router serves. */
function served(): string[] {
  const parts = {} as ManagementServices
  const routers = [managementRouter(parts), managementRouter(parts, lifecycleOperations, LIFECYCLE_BASE)]
  const methods = (layer: { readonly methods: readonly string[] }) => layer.methods.filter((method) => method !== 'HEAD')
  return routers.flatMap(({ stack }) => stack.flatMap((layer) => methods(layer).map((method) => `${method} ${layer.path}`)))
}

describe('the management API', () => {
  it('serves only operations whose access is listed here', () => {
    expect(served()).to.have.members(Object.values(ROLES).flat())
  })
})

onEachDatabase('the management API', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  after(() => fixture?.stop())

  /** The headers of each kind of caller. A new session each time, since some operations end it. */
  const CALLERS: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
    nobody: async () => ({}),
    'a made-up session': async () => ({ cookie: 'umg_session=made-up' }),
    'a live key': async () => ({ authorization: `Bearer ${fixture.gateway.liveKey}` }),
    'a test key': async () => ({ authorization: `Bearer ${fixture.gateway.testKey}` }),
    'a live key beside a session': async () => ({
      ...(await session(fixture.adminId)),
      authorization: `Bearer ${fixture.gateway.liveKey}`,
    }),
    member: () => session(fixture.memberId),
    admin: () => session(fixture.adminId),
    'an admin key': async () => ({ authorization: `Bearer ${fixture.adminKey}` }),
  }

  async function session(userId: string): Promise<Record<string, string>> {
    return { cookie: `umg_session=${await beginSession(fixture.gateway.store.db, userId)}` }
  }

  async function ask(route: string, headers: Record<string, string>): Promise<{ status: number; code: unknown }> {
    const [method, path = ''] = route.split(' ')
    const abort = new AbortController()
    const response = await fetch(fixture.gateway.url + path.replace(':id', 'none'), {
      method,
      redirect: 'manual',
      signal: abort.signal,
      headers: { origin: fixture.gateway.url, 'content-type': 'application/json', ...headers },
      ...(method !== 'GET' && { body: '{}' }),
    })
    const [status, code] = response.status < 400 ? [response.status, undefined] : await refusalOf(response)
    // The live tail never ends by itself.
    abort.abort()
    return { status, code }
  }

  const REFUSED = { status: 401, code: 'not_signed_in' }

  for (const route of ROLES.public) {
    it(`${route} is public`, async () => {
      for (const [name, headers] of Object.entries(CALLERS)) {
        const { status, code } = await ask(route, await headers())
        expect(`${status} ${code}`, name).to.not.match(/not_signed_in|admin_required/)
      }
    })
  }

  for (const route of ROLES.member) {
    it(`${route} is open to members and admins`, async () => {
      for (const [name, headers] of Object.entries(CALLERS)) {
        const told = await ask(route, await headers())
        if (/^(?:member|admin|an admin key)$/.test(name)) expect([401, 403], `${name} ${told.code}`).to.not.include(told.status)
        else expect(told, name).to.deep.equal(REFUSED)
      }
    })
  }

  for (const route of ROLES.admin) {
    it(`${route} is open to admins only`, async () => {
      for (const [name, headers] of Object.entries(CALLERS)) {
        const told = await ask(route, await headers())
        if (name === 'member') expect(told).to.deep.equal({ status: 403, code: 'admin_required' })
        else if (/^(?:admin|an admin key)$/.test(name)) expect([401, 403], `${name} ${told.code}`).to.not.include(told.status)
        else expect(told, name).to.deep.equal(REFUSED)
      }
    })
  }

  it('does not let an admin key call models', async () => {
    const reply = await fixture.gateway.fetch('/v1/models', { key: fixture.adminKey })
    expect(await refusalOf(reply)).to.deep.equal([401, 'invalid_api_key'])
  })
})
