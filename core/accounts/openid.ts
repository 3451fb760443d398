import type { Kysely } from 'kysely'
import type { Configuration } from 'openid-client'
import { GatewayError } from '../errors.ts'
import type { Secret } from '../sdk/secrets.ts'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import { audit } from './audit.ts'
import { findInvitationByEmail, redeemInvitation } from './invitations.ts'
import { beginSession } from './sessions.ts'
import { normalizeEmail } from './user.ts'

/** How the gateway is registered with an OpenID provider. */
export interface OpenIdOptions {
  /** The issuer, where its configuration is discovered: `https://login.example.com`. Plain HTTP for loopback only. */
  readonly issuer: string
  readonly clientId: string
  /** Absent for a public client. */
  readonly clientSecret?: Secret
  /** The name shown to people; absent: the issuer's host. */
  readonly name?: string
}

/** A person, as the OpenID provider identifies them. */
export interface Identity {
  /** Issuer and subject, which never change. */
  readonly id: string
  readonly name: string
  /** Absent if the provider has not verified it. */
  readonly email?: string
  /** When the person proved to the provider who they are, in milliseconds since 1970; absent if the provider does not say. */
  readonly authenticatedAt?: number
}

/** An OpenID provider that users sign in by, with the authorization code flow and PKCE. */
export interface OpenIdProvider {
  readonly name: string
  /**
   * Starts a sign-in: `url` is where to redirect the browser, `checks` what its cookie carries to the callback. `again`: the provider should
   * not trust its own session. Throws `openid_failed`.
   */
  authorizationUrl(redirectUri: string, again?: boolean): Promise<{ readonly url: string; readonly checks: string }>
  /** Completes a sign-in, at the redirect URI with the provider's query. Throws `openid_failed`. */
  callback(url: URL, checks: string): Promise<Identity>
}

/** For each request to the provider. */
const TIMEOUT_S = 10

/** The content of `checks`: binds the callback to the browser that started the sign-in. */
interface Checks {
  readonly expectedState: string
  readonly expectedNonce: string
  readonly pkceCodeVerifier: string
}

// Loaded by the first sign-in: most gateways never need it.
const library = () => import('openid-client')

/** Creates a provider. It is discovered by the first sign-in, so that a gateway starts while its provider is unavailable. */
export function openIdProvider({ issuer, clientId, clientSecret, name }: OpenIdOptions): OpenIdProvider {
  const server = new URL(issuer)
  let discovered: Promise<Configuration> | undefined

  async function discover(): Promise<Configuration> {
    const { allowInsecureRequests, ClientSecretBasic, discovery, None } = await library()
    const proof = clientSecret === undefined ? None() : ClientSecretBasic(clientSecret.reveal())
    const execute = server.protocol === 'http:' ? [allowInsecureRequests] : []
    return discovery(server, clientId, undefined, proof, { execute, timeout: TIMEOUT_S })
  }

  function configuration(): Promise<Configuration> {
    discovered ??= discover().catch((error: unknown) => {
      discovered = undefined
      throw error
    })
    return discovered
  }

  return {
    name: name ?? server.host,
    authorizationUrl: (redirectUri, again = false) =>
      orFailed(async () => authorizationUrl(await configuration(), redirectUri, again)),
    callback: (url, checks) => orFailed(async () => exchangeCode(await configuration(), url, checks)),
  }
}

async function authorizationUrl(config: Configuration, redirectUri: string, again: boolean) {
  const { buildAuthorizationUrl, calculatePKCECodeChallenge, ...random } = await library()
  const checks: Checks = {
    expectedState: random.randomState(),
    expectedNonce: random.randomNonce(),
    pkceCodeVerifier: random.randomPKCECodeVerifier(),
  }
  const url = buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...(again && { max_age: '0' }),
  })
  return { url: url.href, checks: Buffer.from(JSON.stringify(checks)).toString('base64url') }
}

async function exchangeCode(config: Configuration, url: URL, cookie: string): Promise<Identity> {
  const { authorizationCodeGrant, fetchUserInfo } = await library()
  const checks: Checks = JSON.parse(Buffer.from(cookie, 'base64url').toString())
  const { expectedState, expectedNonce, pkceCodeVerifier } = checks
  const expected = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true }
  const tokens = await authorizationCodeGrant(config, url, expected)
  const { iss, sub, auth_time, ...claims } = tokens.claims()!
  // Some providers put only the subject into the ID token.
  const { email, email_verified, name } =
    claims.email === undefined ? await fetchUserInfo(config, tokens.access_token, sub) : claims
  const address = typeof email === 'string' && email_verified === true ? email : undefined
  return {
    id: `${iss} ${sub}`,
    name: typeof name === 'string' ? name : (address ?? sub),
    ...(address && { email: address }),
    ...(auth_time !== undefined && { authenticatedAt: auth_time * 1000 }),
  }
}

async function orFailed<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    throw new GatewayError('openid_failed', { cause })
  }
}

/**
 * Signs in a person whom the OpenID provider identified; resolves to the token of a new session. It is the user linked to the identity,
 * else the user of its address who is linked to none, else an invited person. Throws `openid_refused` for any other.
 */
export async function signInWithOpenId(store: Store, identity: Identity, address: string): Promise<string> {
  const token = await exclusively(store, async (db) => {
    const user = (await findByIdentity(db, identity)) ?? (await linkIdentity(db, identity, address))
    if (user !== undefined) {
      await audit(db, { ...user, address }, { action: 'session.start', object: { type: 'user', ...user } })
      return beginSession(db, user.id, identity.authenticatedAt)
    }
    const invitation = identity.email === undefined ? undefined : await findInvitationByEmail(db, identity.email)
    return invitation && redeemInvitation(db, invitation, { name: identity.name, credential: { identity: identity.id }, address })
  })
  if (token !== undefined) return token
  const name = identity.email ?? identity.id
  await audit(store.db, { address }, { action: 'session.refuse', object: { type: 'user', id: null, name } })
  throw new GatewayError('openid_refused')
}

type LinkedUser = { readonly id: string; readonly name: string } | undefined

function findByIdentity(db: Kysely<Schema>, { id }: Identity): Promise<LinkedUser> {
  const users = db.selectFrom('users').select(['id', 'name']).where('identity', '=', id)
  return users.where('disabled_at', 'is', null).executeTakeFirst()
}

/** Links an identity to the user of its address, unless the user is linked already: then no other identity can take the place. */
async function linkIdentity(db: Kysely<Schema>, { id, email }: Identity, address: string): Promise<LinkedUser> {
  if (email === undefined) return undefined
  const user = await db
    .updateTable('users')
    .set({ identity: id })
    .where('email', '=', normalizeEmail(email))
    .where('identity', 'is', null)
    .where('disabled_at', 'is', null)
    .returning(['id', 'name'])
    .executeTakeFirst()
  if (user !== undefined) {
    const changes = { identity: [null, id] } as const
    await audit(db, { ...user, address }, { action: 'user.edit', object: { type: 'user', ...user }, changes })
  }
  return user
}
