import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { audit } from '../accounts/audit.ts'
import { createDevice } from '../accounts/known-devices.ts'
import { endSession, endSessions, findSession } from '../accounts/sessions.ts'
import { completeSetup, needsSetup } from '../accounts/setup.ts'
import { changePassword, confirmSession, signIn } from '../accounts/sign-in.ts'
import { GatewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import type { Caller } from './caller.ts'
import { deviceCookie, sessionCookie, setCookie } from './cookies.ts'
import { email, named, newPassword, nullable, password, role, timeOrNull, token, toTime } from './fields.ts'
import { OPENID_START } from './openid.ts'
import { API_BASE, type Operation, operation } from './operation.ts'
import type { ManagementServices } from './services.ts'

/** The caller, their account, and the gateway. */
export const sessionSchema = Type.Object(
  {
    user: Type.Object({
      id: Type.String(),
      email: nullable(Type.String(), 'Null for an admin key.'),
      name: Type.String(),
      role,
      has_password: Type.Boolean({ description: 'False: they sign in by the OpenID provider only, or it is an admin key.' }),
    }),
    account: named,
    confirmed_until: timeOrNull(
      'Until when they may make changes that give rights without entering the password again; null for an admin key.',
    ),
    gateway: Type.Object({
      base_url: Type.String({ description: 'The base URL for clients; it ends in /v1.' }),
      version: Type.String(),
      usage_hours_seconds: Type.Integer({ description: 'How long usage is kept by the hour; by the day, it is kept longer.' }),
    }),
  },
  { title: 'Session' },
)

const signInSchema = Type.Object(
  {
    password: Type.Boolean({ description: 'By e-mail address and password.' }),
    oidc: nullable(
      Type.Object({ name: Type.String(), path: Type.String() }),
      'The OpenID provider, and the path where a browser starts to sign in by it.',
    ),
    setup_needed: Type.Boolean({ description: 'True until the first admin has used the setup link.' }),
  },
  { title: 'SignInMethods' },
)

/** Setup, signing in and out, and the password. */
export const sessionOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/sign-in',
    access: 'public',
    summary: 'List the ways to sign in',
    reply: signInSchema,
    handle: async (_, { store, openid }) => ({
      password: true,
      oidc: openid ? { name: openid.name, path: API_BASE + OPENID_START } : null,
      setup_needed: await needsSetup(store),
    }),
  }),
  operation({
    method: 'POST',
    path: '/setup',
    access: 'public',
    summary: 'Use the setup link: create the first admin, and sign in',
    body: Type.Object({ token, email, name: Type.String(), password: newPassword }),
    reply: sessionSchema,
    status: 201,
    handle: async (context, services) =>
      openSession(await completeSetup(services.store, { ...context.body, address: context.address }), context, services),
  }),
  operation({
    method: 'GET',
    path: '/session',
    access: 'member',
    summary: 'Get the session',
    reply: sessionSchema,
    handle: async ({ caller }, services) => {
      const { email = null, hasPassword = false, confirmedUntil } = caller.session ?? {}
      return sessionView({ ...caller, email, hasPassword }, confirmedUntil, services)
    },
  }),
  operation({
    method: 'POST',
    path: '/session',
    access: 'public',
    summary: 'Sign in',
    body: Type.Object({ email, password: password('The password.') }),
    reply: sessionSchema,
    status: 201,
    handle: async (context, services) =>
      openSession(
        await signIn(services.store, {
          ...context.body,
          address: context.address,
          device: context.cookie(deviceCookie(services.urls()).name),
        }),
        context,
        services,
      ),
  }),
  operation({
    method: 'DELETE',
    path: '/session',
    access: 'member',
    summary: 'Sign out',
    async handle(context, services) {
      const { session } = context.caller
      return session && signOut(context, services, 'session.end', (db) => endSession(db, session.digest))
    },
  }),
  operation({
    method: 'DELETE',
    path: '/sessions',
    access: 'member',
    summary: 'Sign out everywhere',
    handle: (context, services) => signOut(context, services, 'session.end-all', (db) => endSessions(db, context.caller.id)),
  }),
  operation({
    method: 'POST',
    path: '/session/confirm',
    access: 'member',
    summary: 'Enter your password again, for changes that give rights',
    body: Type.Object({ password: password('The password.') }),
    reply: sessionSchema,
    async handle(context, services) {
      const { body, address } = context
      const { email, digest } = sessionOf(context.caller)
      const credentials = { email, password: body.password, address, session: digest }
      return openSession(await confirmSession(services.store, credentials), context, services)
    },
  }),
  operation({
    method: 'POST',
    path: '/password',
    access: 'member',
    summary: 'Change your password; your other sessions end',
    body: Type.Object({ current: password('The current password.'), new: newPassword }),
    reply: sessionSchema,
    async handle(context, services) {
      const { body, address } = context
      const { email, digest } = sessionOf(context.caller)
      const credentials = { email, password: body.current, address, session: digest }
      return openSession(await changePassword(services.store, credentials, body.new), context, services)
    },
  }),
]

/** The session of a user. Throws `conflict` for an admin key. */
function sessionOf({ session }: Caller): NonNullable<Caller['session']> {
  if (session === undefined) throw new GatewayError('conflict', { values: { detail: 'An admin key has no password.' } })
  return session
}

/** Sets the cookies of a session that has just begun and of its browser, and shows the session. */
export async function openSession(
  token: string,
  context: { setHeader(name: string, value: string): void },
  services: ManagementServices,
) {
  const session = await findSession(services.store, token)
  if (session === undefined) throw new GatewayError('not_signed_in')
  context.setHeader('set-cookie', setCookie(sessionCookie(services.urls()), token))
  const device = await createDevice(services.store, session.user.id)
  if (device !== undefined) context.setHeader('set-cookie', setCookie(deviceCookie(services.urls()), device))
  return sessionView(session.user, session.confirmedUntil, services)
}

/** Ends sessions of the caller, and removes the cookie. */
async function signOut(
  { caller, setHeader }: { readonly caller: Caller; setHeader(name: string, value: string): void },
  { store, urls }: ManagementServices,
  action: 'session.end' | 'session.end-all',
  end: (db: Kysely<Schema>) => Promise<void>,
): Promise<undefined> {
  await exclusively(store, async (db) => {
    await end(db)
    await audit(db, caller, { action, object: { type: 'user', id: caller.id, name: caller.name } })
  })
  setHeader('set-cookie', setCookie(sessionCookie(urls()), ''))
}

interface SessionUser {
  readonly id: string
  readonly email: string | null
  readonly name: string
  readonly role: 'admin' | 'member'
  readonly account: { readonly id: string; readonly name: string }
  readonly hasPassword: boolean
}

const sessionView = (
  { id, email, name, role, account, hasPassword }: SessionUser,
  confirmedUntil: number | undefined,
  { urls, version, retention }: ManagementServices,
) => ({
  user: { id, email, name, role, has_password: hasPassword },
  account,
  confirmed_until: confirmedUntil === undefined ? null : toTime(confirmedUntil),
  gateway: { base_url: `${urls().clients}/v1`, version, usage_hours_seconds: Math.floor(retention.requests / 1000) },
})
