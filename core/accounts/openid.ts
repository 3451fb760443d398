import * as client from 'openid-client'
import { GatewayError } from '../errors.ts'
import type { Secret } from '../plugin/secret.ts'

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

/** Talks to a provider once somebody signs in by it: one that is away keeps no gateway from starting. */
export function openIdProvider({ issuer, clientId, clientSecret, name }: OpenIdOptions): OpenIdProvider {
  const server = new URL(issuer)
  let found: Promise<client.Configuration> | undefined

  function discover(): Promise<client.Configuration> {
    const proof = clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret.reveal())
    const execute = server.protocol === 'http:' ? [client.allowInsecureRequests] : []
    found ??= client.discovery(server, clientId, undefined, proof, { execute, timeout: TIMEOUT_S }).catch((error: unknown) => {
      found = undefined
      throw error
    })
    return found
  }

  return {
    name: name ?? server.host,
    begin: (redirectUri) => orFailed(async () => begin(await discover(), redirectUri)),
    finish: (url, memo) => orFailed(async () => finish(await discover(), url, memo)),
  }
}

async function begin(config: client.Configuration, redirectUri: string) {
  const checks: Checks = {
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
  }
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, memo: Buffer.from(JSON.stringify(checks)).toString('base64url') }
}

async function finish(config: client.Configuration, url: URL, memo: string): Promise<Identity> {
  const checks: Checks = JSON.parse(Buffer.from(memo, 'base64url').toString())
  const { expectedState, expectedNonce, pkceCodeVerifier } = checks
  const expected = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true }
  const tokens = await client.authorizationCodeGrant(config, url, expected)
  const { iss, sub, ...claims } = tokens.claims()!
  // Some tell more than the subject only when they are asked again.
  const { email, email_verified, name } =
    claims.email === undefined ? await client.fetchUserInfo(config, tokens.access_token, sub) : claims
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
