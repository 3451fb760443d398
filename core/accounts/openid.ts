import type { Kysely } from 'kysely'
import type { Configuration } from 'openid-client'
import { GatewayError } from '../errors.ts'
import type { Secret } from '../sdk/secrets.ts'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import { audit } from './audit.ts'
import { admit, findInvitation } from './invitations.ts'
import { beginSession } from './sessions.ts'
import { emailOf } from './users.ts'

/** How the gateway is registered with an OpenID provider. */
export interface OpenIdOptions {
  /** Where its configuration is found: `https://login.example.com`. Plain HTTP only on this machine. */
  readonly issuer: string
  readonly clientId: string
  /** Absent for a public client. */
  readonly clientSecret?: Secret
  /** What people call it; absent: its host. */
  readonly name?: string
}

/** Who somebody is, by their OpenID provider. */
export interface Identity {
  /** Issuer and subject: stays the same, whatever else changes. */
  readonly id: string
  readonly name: string
  /** Absent where the provider does not vouch for it. */
  readonly email?: string
}

/** Lets people sign in elsewhere, by the authorization code flow with PKCE. */
export interface OpenIdProvider {
  readonly name: string
  /** Where to send a browser, and what it has to bring back: `memo`, for a cookie. Throws `openid_failed`. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly memo: string }>
  /** Who came back, at the redirect URI with what the provider added to it. Throws `openid_failed`. */
  finish(url: URL, memo: string): Promise<Identity>
}

/** Seconds for each request to the provider. */
const TIMEOUT_S = 10

/** What stands in the memo: whoever brings it back began the sign-in. */
interface Checks {
  readonly expectedState: string
  readonly expectedNonce: string
  readonly pkceCodeVerifier: string
}

// Only once somebody signs in so: most gateways never need it.
const library = () => import('openid-client')

/** Talks to a provider once somebody signs in by it: one that is away keeps no gateway from starting. */
export function openIdProvider({ issuer, clientId, clientSecret, name }: OpenIdOptions): OpenIdProvider {
  const server = new URL(issuer)
  let found: Promise<Configuration> | undefined

  async function discover(): Promise<Configuration> {
    const { allowInsecureRequests, ClientSecretBasic, discovery, None } = await library()
    const proof = clientSecret === undefined ? None() : ClientSecretBasic(clientSecret.reveal())
    const execute = server.protocol === 'http:' ? [allowInsecureRequests] : []
    return discovery(server, clientId, undefined, proof, { execute, timeout: TIMEOUT_S })
  }

  function configuration(): Promise<Configuration> {
    found ??= discover().catch((error: unknown) => {
      found = undefined
      throw error
    })
    return found
  }

  return {
    name: name ?? server.host,
    begin: (redirectUri) => orFailed(async () => begin(await configuration(), redirectUri)),
    finish: (url, memo) => orFailed(async () => finish(await configuration(), url, memo)),
  }
}

async function begin(config: Configuration, redirectUri: string) {
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
  })
  return { url: url.href, memo: Buffer.from(JSON.stringify(checks)).toString('base64url') }
}

async function finish(config: Configuration, url: URL, memo: string): Promise<Identity> {
  const { authorizationCodeGrant, fetchUserInfo } = await library()
  const checks: Checks = JSON.parse(Buffer.from(memo, 'base64url').toString())
  const { expectedState, expectedNonce, pkceCodeVerifier } = checks
  const expected = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true }
  const tokens = await authorizationCodeGrant(config, url, expected)
  const { iss, sub, ...claims } = tokens.claims()!
  // Some tell more than the subject only when they are asked again.
  const { email, email_verified, name } =
    claims.email === undefined ? await fetchUserInfo(config, tokens.access_token, sub) : claims
  const address = typeof email === 'string' && email_verified === true ? email : undefined
  return { id: `${iss} ${sub}`, name: typeof name === 'string' ? name : (address ?? sub), ...(address && { email: address }) }
}

async function orFailed<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    throw new GatewayError('openid_failed', { cause })
  }
}

/**
 * Begins a session for whom the OpenID provider says somebody is; resolves to its token. That is a user who signed in so before, or
 * who has this address and never did, or an invited person. Throws `openid_refused` for everybody else.
 */
export async function signInWithOpenId(store: Store, identity: Identity, address: string): Promise<string> {
  const token = await exclusively(store, async (db) => {
    const user = (await findByIdentity(db, identity)) ?? (await adopt(db, identity, address))
    if (user !== undefined) {
      await audit(db, { ...user, address }, { action: 'session.start', object: { type: 'user', ...user } })
      return beginSession(db, user.id)
    }
    const invitation = identity.email === undefined ? undefined : await findInvitation(db, identity.email)
    return invitation && admit(db, invitation, { name: identity.name, credential: { identity: identity.id }, address })
  })
  if (token !== undefined) return token
  const name = identity.email ?? identity.id
  await audit(store.db, { address }, { action: 'session.refuse', object: { type: 'user', id: null, name } })
  throw new GatewayError('openid_refused')
}

type Found = { readonly id: string; readonly name: string } | undefined

function findByIdentity(db: Kysely<Schema>, { id }: Identity): Promise<Found> {
  const users = db.selectFrom('users').select(['id', 'name']).where('identity', '=', id)
  return users.where('disabled_at', 'is', null).executeTakeFirst()
}

/** A user of this address who never signed in by the provider does so from now on: nobody else's identity can take their place. */
async function adopt(db: Kysely<Schema>, { id, email }: Identity, address: string): Promise<Found> {
  if (email === undefined) return undefined
  const user = await db
    .updateTable('users')
    .set({ identity: id })
    .where('email', '=', emailOf(email))
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
