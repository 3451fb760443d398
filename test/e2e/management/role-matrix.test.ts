import { expect } from 'chai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { invite, redeemInvitation } from '../../../core/accounts/invitations.ts'
import { beginSession } from '../../../core/accounts/sessions.ts'
import type { Access } from '../../../core/control/operation.ts'
import { createCallWriter } from '../../../core/usage/call-writer.ts'
import { callRowOf } from '../../core/usage/outcome.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type Fixture, PASSWORD, startFixture } from './fixture.ts'

/** Part of every name of what belongs to the member's account: no stranger may read it. */
const CANARY = 'canary-of-acme'

const CALLERS = [
  'nobody',
  'a made-up session',
  'a live key',
  'a test key',
  'a member',
  'a member of another account',
  'an admin',
  'an admin key',
] as const
type CallerName = (typeof CALLERS)[number]

/** An operation as `/openapi.json` states it. */
interface Stated {
  readonly method: string
  readonly path: string
  readonly access: Access
}

/** What a caller gets. `served`: the operation itself decides, as by 404 or 400. */
type Expected = 'served' | 'not_signed_in' | 'admin_required' | 'not_found'

/** The rule of each access that an operation can state. */
const RULES: Readonly<Record<Access, (caller: CallerName, names: boolean) => Expected>> = {
  public: () => 'served',
  member: (caller, names) =>
    names && caller === 'a member of another account' ? 'not_found' : isSignedIn(caller) ? 'served' : 'not_signed_in',
  admin: (caller) => (isAdmin(caller) ? 'served' : isSignedIn(caller) ? 'admin_required' : 'not_signed_in'),
}

const isAdmin = (caller: CallerName): boolean => caller === 'an admin' || caller === 'an admin key'
const isSignedIn = (caller: CallerName): boolean => isAdmin(caller) || caller.startsWith('a member')

onEachDatabase('the management API', (database) => {
  let fixture: Fixture
  let stated: readonly Stated[]
  let stranger: string
  /** The id of something of the member's account, by the path before it. */
  let objects: Readonly<Record<string, () => Promise<string>>>

  before(async () => {
    fixture = await startFixture(await database())
    const { gateway, account, admin, program } = fixture
    await admin.patch(`/accounts/${account}`, { name: CANARY })
    const { id: others } = await createAccount(gateway.store, { name: 'Others', models: ['*'], rateClass: null }, GATEWAY)
    const { invitation } = await invite(gateway.store, { email: 'eve@example.com', role: 'member', account: others }, GATEWAY)
    await redeemInvitation(gateway.store.db, invitation, {
      name: 'Eve',
      credential: { password: PASSWORD },
      address: '127.0.0.1',
    })
    const eve = await gateway.store.db.selectFrom('users').select('id').where('name', '=', 'Eve').executeTakeFirstOrThrow()
    stranger = eve.id
    const row = callRowOf({ at: Date.now(), number: 1, account, model: `${CANARY}/model`, tags: { team: CANARY } })
    await createCallWriter(gateway.store).write([row])
    const newKey = async () => String((await program.post('/keys', { name: CANARY, kind: 'live', account_id: account })).body.id)
    objects = { '/accounts/': async () => account, '/keys/': newKey, '/requests/': async () => row.id }
    const document = await gateway.fetch('/api/v1/openapi.json', { key: fixture.adminKey })
    stated = operationsOf((await document.json()) as object)
  })

  after(() => fixture?.stop())

  async function headersOf(caller: CallerName): Promise<Record<string, string>> {
    const { gateway, adminId, memberId, adminKey } = fixture
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
    const session = async (user: string) => ({ cookie: `umg_session=${await beginSession(gateway.store.db, user)}` })
    switch (caller) {
      case 'nobody':
        return {}
      case 'a made-up session':
        return { cookie: 'umg_session=made-up' }
      case 'a live key':
        return bearer(gateway.liveKey)
      case 'a test key':
        return bearer(gateway.testKey)
      case 'a member':
        return session(memberId)
      case 'a member of another account':
        return session(stranger)
      case 'an admin':
        return session(adminId)
      case 'an admin key':
        return bearer(adminKey)
    }
  }

  /** Calls an operation. The reply's text is read unless it is a live one, which never ends. */
  async function ask({ method, path }: Stated, caller: CallerName, id: string) {
    const abort = new AbortController()
    const response = await fetch(fixture.gateway.url + path.replace(/\{\w+\}/, id), {
      method,
      redirect: 'manual',
      signal: abort.signal,
      headers: { origin: fixture.gateway.url, 'content-type': 'application/json', ...(await headersOf(caller)) },
      ...(method !== 'GET' && { body: JSON.stringify(path.endsWith('/rotate') ? { overlap_seconds: 60 } : {}) }),
    })
    const text = path.endsWith('/live') && response.ok ? '' : await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    abort.abort()
    return { code: response.status >= 400 && isJson ? JSON.parse(text).error?.code : undefined, text, status: response.status }
  }

  /** What a member-only path names: something of the member's account. Fails for a kind of thing that this test does not know. */
  async function objectOf({ access, path }: Stated): Promise<string> {
    const [before, after] = path.replace('/api/v1', '').split(/\{\w+\}/)
    if (after === undefined || access !== 'member') return 'none'
    expect(objects, `add one to \`objects\`, of an account: ${path}`).to.have.property(before!)
    return objects[before!]!()
  }

  it('is whole in its document, each operation with its access', () => {
    expect(stated.length).to.be.at.least(40)
    for (const { method, path, access } of stated) expect(RULES, `${method} ${path}`).to.have.property(access)
  })

  for (const caller of CALLERS) {
    it(`answers ${caller} as each operation states`, async () => {
      const wrong: string[] = []
      for (const operation of stated) {
        const { method, path, access } = operation
        const id = await objectOf(operation)
        const expected = RULES[access](caller, id !== 'none')
        const { code, status, text } = await ask(operation, caller, id)
        const refused = code === 'not_signed_in' || code === 'admin_required' || status === 401 || status === 403
        const right =
          expected === 'served' ? !refused || access === 'public' : expected === 'not_found' ? status === 404 : code === expected
        if (!right) wrong.push(`${method} ${path}: ${status} ${code}, not ${expected}`)
        if (caller === 'a member of another account' && text.includes(CANARY)) wrong.push(`${method} ${path} shows ${CANARY}`)
        if (caller === 'a member' && id !== 'none' && method === 'GET' && status !== 200)
          wrong.push(`${method} ${path}: ${status}`)
      }
      expect(wrong).to.deep.equal([])
    })
  }
})

function operationsOf(document: object): readonly Stated[] {
  const { paths } = document as { readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      access: (operation as { readonly 'x-access': Access })['x-access'],
    })),
  )
}
