import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { sql } from 'kysely'
import { createSetupToken } from '../../../core/accounts/setup.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { ApiClient, type ApiReply } from './api-client.ts'

/** A secret, and the replies that may contain it. */
interface Canary {
  readonly what: string
  readonly secret: string
  readonly told?: readonly ApiReply[]
}

/** The forms of a text: plain, URL-encoded, base64 at each of three alignments, hex. */
function formsOf(secret: string): string[] {
  const shifted = [0, 1, 2].map((shift) => Buffer.from(`${'_'.repeat(shift)}${secret}`).toString('base64'))
  // The characters at both ends depend on the neighbouring bytes.
  return [secret, encodeURIComponent(secret), ...shifted.map((text) => text.slice(4, -4)), Buffer.from(secret).toString('hex')]
}

onEachDatabase('a secret', (database, kind) => {
  it('is only in the reply that hands it out', async () => {
    const url = await database()
    const gateway = await startTestGateway({
      database: url,
      routes: { chain: [{ plugin: 'auth' }], namespaces: { sandbox: { provider: 'sandbox' } } },
    })
    const passwords = ['ada’s own password', 'bob’s own password', 'ada’s other password']
    const admin = new ApiClient(gateway.url)
    const member = new ApiClient(gateway.url)
    const setupToken = (await createSetupToken(gateway.store))!
    await admin.post('/setup', { token: setupToken, email: 'ada@example.com', name: 'Ada', password: passwords[0] })
    const first = admin.cookies.get('umg_session')!
    await admin.post('/password', { current: passwords[0], new: passwords[2] })
    await new ApiClient(gateway.url).post('/session', { email: 'ada@example.com', password: 'a password that is wrong' })

    const account = (await admin.post('/accounts', { name: 'Acme', models: ['*'] })).body.id
    const invited = await admin.post('/invitations', { email: 'bob@example.com', role: 'member', account_id: account })
    const invitation = String(invited.body.link).split('#')[1]!
    await member.post('/invitations/look', { token: invitation })
    await member.post('/invitations/accept', { token: invitation, name: 'Bob', password: passwords[1] })

    const made = await member.post('/keys', { name: 'laptop', kind: 'live' })
    const rotated = await member.post(`/keys/${made.body.id}/rotate`, { overlap_seconds: 60 })
    const managing = await admin.post('/keys', { name: 'manager', kind: 'admin' })
    await gateway.openai(String(made.body.secret)).chat.completions.create({
      model: 'sandbox/hello',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    // An error may quote its request.
    await admin.post(`/keys/${made.body.secret}/revoke`)
    await admin.get(`/keys?q=${made.body.secret}&limit=0`)
    await new ApiClient(gateway.url).post('/invitations/look', { token: setupToken })
    for (const path of ['/keys', '/users', '/accounts', '/invitations', '/audit?limit=200', '/config', '/requests', '/session'])
      await admin.get(path)

    const canaries: readonly Canary[] = [
      { what: 'the setup token', secret: setupToken },
      { what: 'the invitation', secret: invitation, told: [invited] },
      { what: 'a session', secret: first },
      { what: 'another session', secret: admin.cookies.get('umg_session')! },
      { what: 'the key', secret: String(made.body.secret).slice(12, -4), told: [made] },
      { what: 'its successor', secret: String(rotated.body.secret).slice(12, -4), told: [rotated] },
      { what: 'the admin key', secret: String(managing.body.secret).slice(13, -4), told: [managing] },
      ...[...passwords, 'a password that is wrong'].map((secret) => ({ what: 'a password', secret })),
    ]

    const dump = await dumpOf(gateway.store.db as never, kind)
    await gateway.stop()
    const files = kind === 'SQLite' ? bytesOf(dirname(url.slice('sqlite:'.length))) : []
    const places = { log: JSON.stringify(gateway.log), database: dump, files: files.join('') }
    expect(places.database).to.include('ada@example.com')
    expect(places.log).to.include(String(made.body.id))
    for (const { what, secret, told = [] } of canaries) {
      for (const form of formsOf(secret)) {
        for (const [place, text] of Object.entries(places)) expect(text.includes(form), `${what} in the ${place}`).to.equal(false)
        for (const reply of [...admin.replies, ...member.replies]) {
          const replies = reply.text + JSON.stringify([...reply.headers].filter(([name]) => name !== 'set-cookie'))
          if (!told.includes(reply)) expect(replies.includes(form), `${what} in ${reply.text.slice(0, 100)}`).to.equal(false)
        }
      }
      for (const reply of told) {
        expect(reply.text).to.include(secret)
        expect(reply.headers.get('cache-control')).to.equal('no-store')
      }
    }
  })
})

/** All rows of all tables, as text. */
async function dumpOf(db: Parameters<ReturnType<typeof sql>['execute']>[0], kind: string): Promise<string> {
  const list =
    kind === 'SQLite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`
  const { rows } = await list.execute(db)
  const tables = await Promise.all(rows.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db)))
  return JSON.stringify(tables.map(({ rows }) => rows))
}

const bytesOf = (folder: string): string[] => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
