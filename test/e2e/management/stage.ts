import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { invite } from '../../../core/accounts/invitations.ts'
import { createSetupToken } from '../../../core/accounts/setup.ts'
import type { ManagementOptions } from '../../../core/http/management/parts.ts'
import { createKey } from '../../../core/keys/keys.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { Person } from './person.ts'

export const PASSWORD = 'correct horse battery staple'

/** A routing table with all that the management API shows. */
const ROUTES = `
version: 1
chain: [{ plugin: auth }]
namespaces:
  sandbox: { provider: sandbox, models: [hello] }
  spare: { provider: sandbox, models: [hello] }
  openai: { provider: openai-compatible, optional: true, config: { preset: openai, apiKey: "\${env:OPENAI_API_KEY}" }, models: [gpt-5.5] }
  acme:
    models:
      smart: { targets: [{ model: sandbox/hello, weight: 3 }, { model: openai/gpt-5.5, weight: 1 }], fallbacks: [spare/hello] }
aliases: { gpt-4o: acme/smart }
keys:
  - { name: nightly, hash: "sha256:${'ab'.repeat(32)}", kind: live, models: ["acme/*"], class: batch, expires: 2999-01-31 }
`

/** A gateway that is set up: an admin, a member of an account of their own, and a program with an admin key. */
export interface Stage {
  readonly gateway: TestGateway
  readonly admin: Person
  readonly member: Person
  readonly program: Person
  readonly adminKey: string
  /** The ids of the member's account, and of the two people. */
  readonly account: string
  readonly adminId: string
  readonly memberId: string
  /** Somebody who has not signed in. */
  stranger(): Person
  stop(): Promise<void>
}

/** Sets a gateway up, as its first people would. */
export async function startStage(database: string, management?: ManagementOptions): Promise<Stage> {
  const gateway = await startTestGateway({ routes: ROUTES, database, ...(management && { management }) })
  const { url, store } = gateway
  const stranger = () => new Person(url)
  const admin = stranger()
  const setup = { token: await createSetupToken(store), email: 'ada@example.com', name: 'Ada', password: PASSWORD }
  const adminId = idOf(await admin.post('/setup', setup))
  const account = await createAccount(store, { name: 'Acme', models: ['sandbox/*', 'acme/*'], rateClass: null }, GATEWAY)
  const { token } = await invite(store, { email: 'bob@example.com', role: 'member', account: account.id }, GATEWAY)
  const member = stranger()
  const memberId = idOf(await member.post('/invitations/accept', { token, name: 'Bob', password: PASSWORD }))
  const { secret: adminKey } = await createKey(store, { name: 'terraform', kind: 'admin' })
  const program = new Person(url, adminKey)
  return {
    ...{ gateway, admin, member, program, adminKey, account: account.id, adminId, memberId, stranger },
    stop: () => gateway.stop(),
  }
}

function idOf({ status, body }: Awaited<ReturnType<Person['post']>>): string {
  expect(status).to.equal(201)
  return (body.user as { id: string }).id
}

/** A text that stands nowhere else. */
export const unique = (what: string): string => `${what} ${randomBytes(6).toString('hex')}`
