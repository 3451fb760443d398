import { Type } from 'typebox'
import { audit } from '../accounts/audit.ts'
import { endSession, endSessions, findSession } from '../accounts/sessions.ts'
import { needsSetup, setUp } from '../accounts/setup.ts'
import { changePassword, signIn } from '../accounts/sign-in.ts'
import { GatewayError } from '../errors.ts'
import { sessionCookie, setCookie } from './caller.ts'
import { email, named, password, role, token } from './fields.ts'
import { BASE, type ManagementServices, type Route, route } from './operation.ts'

/** Who is signed in, to which account, at which gateway. */
export const session = Type.Object({
  user: Type.Object({
    id: Type.String(),
    email: Type.Union([Type.String(), Type.Null()], { description: 'Null where a program calls, with an admin key.' }),
    name: Type.String(),
    role,
  }),
  account: named,
  gateway: Type.Object({
    base_url: Type.String({ description: 'What clients set as their base URL; it ends in /v1.' }),
    version: Type.String(),
  }),
})

interface Person {
  readonly id: string
  readonly email: string | null
  readonly name: string
  readonly role: 'admin' | 'member'
  readonly account: { readonly id: string; readonly name: string }
}

function tell({ id, email, name, role, account }: Person, { urls, version }: ManagementServices) {
  return { user: { id, email, name, role }, account, gateway: { base_url: `${urls().clients}/v1`, version } }
}

/** Gives the token of a session that has just begun to the browser, and tells whose it is. */
export async function welcome(token: string, asked: { header(name: string, value: string): void }, services: ManagementServices) {
  const begun = await findSession(services.store, token)
  if (begun === undefined) throw new GatewayError('not_signed_in')
  asked.header('set-cookie', setCookie(sessionCookie(services.urls()), token))
  return tell(begun.user, services)
}

/** Signing in and out. */
export const sessionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/sign-in',
    role: 'nobody',
    summary: 'How people sign in here',
    reply: Type.Object({
      password: Type.Boolean({ description: 'By e-mail and password.' }),
      oidc: Type.Union([Type.Object({ name: Type.String(), path: Type.String() }), Type.Null()], {
        description: 'The OpenID provider, and where a browser goes to sign in by it.',
      }),
      setup_needed: Type.Boolean({ description: 'True until the first admin has used the setup link.' }),
    }),
    handle: async (_, { store, openid }) => ({
      password: true,
      oidc: openid ? { name: openid.name, path: `${BASE}/oidc/start` } : null,
      setup_needed: await needsSetup(store),
    }),
  }),
  route({
    method: 'POST',
    path: '/setup',
    role: 'nobody',
    summary: 'Use the setup link: become the first admin, and sign in',
    body: Type.Object({
      token,
      email,
      name: Type.String(),
      password: password('At least 12 characters.'),
    }),
    reply: session,
    status: 201,
    handle: async (asked, services) =>
      welcome(await setUp(services.store, { ...asked.body, address: asked.address }), asked, services),
  }),
  route({
    method: 'GET',
    path: '/session',
    role: 'member',
    summary: 'Who is signed in',
    reply: session,
    handle: async ({ caller }, services) => tell({ ...caller, email: caller.session?.email ?? null }, services),
  }),
  route({
    method: 'POST',
    path: '/session',
    role: 'nobody',
    summary: 'Sign in',
    body: Type.Object({ email, password: password('The password.') }),
    reply: session,
    status: 201,
    handle: async (asked, services) =>
      welcome(await signIn(services.store, { ...asked.body, address: asked.address }), asked, services),
  }),
  route({
    method: 'DELETE',
    path: '/session',
    role: 'member',
    summary: 'Sign out',
    async handle({ caller, header }, { store, urls }) {
      if (caller.session === undefined) return undefined
      await store.db.transaction().execute(async (db) => {
        await endSession(db, caller.session!.digest)
        await audit(db, caller, { action: 'session.end', object: { type: 'user', id: caller.id, name: caller.name } })
      })
      header('set-cookie', setCookie(sessionCookie(urls()), ''))
      return undefined
    },
  }),
  route({
    method: 'DELETE',
    path: '/sessions',
    role: 'member',
    summary: 'Sign out everywhere',
    async handle({ caller, header }, { store, urls }) {
      await store.db.transaction().execute(async (db) => {
        await endSessions(db, caller.id)
        await audit(db, caller, { action: 'session.end-all', object: { type: 'user', id: caller.id, name: caller.name } })
      })
      header('set-cookie', setCookie(sessionCookie(urls()), ''))
      return undefined
    },
  }),
  route({
    method: 'POST',
    path: '/password',
    role: 'member',
    summary: 'Change the password; every other session ends',
    body: Type.Object({ current: password('The password until now.'), new: password('At least 12 characters.') }),
    reply: session,
    async handle(asked, services) {
      const { caller, body, address } = asked
      if (caller.session === undefined)
        throw new GatewayError('conflict', { values: { detail: 'An admin key has no password.' } })
      const credentials = { email: caller.session.email, password: body.current, address }
      return welcome(await changePassword(services.store, credentials, body.new), asked, services)
    },
  }),
]
