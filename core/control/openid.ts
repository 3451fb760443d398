import { Type } from 'typebox'
import { signInWithOpenId } from '../accounts/openid.ts'
import { GatewayError } from '../errors.ts'
import { sessionCookie, setCookie, signInCookie } from './cookies.ts'
import { API_BASE, type Operation, operation } from './operation.ts'
import { toGatewayError } from './reply.ts'
import type { ManagementServices } from './services.ts'

/** Where a browser starts a sign-in by the OpenID provider. */
export const OPENID_START = '/oidc/start'
const CALLBACK = '/oidc/callback'

/** Signing in by an OpenID provider: a browser is redirected there, and back. */
export const openIdOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: OPENID_START,
    access: 'public',
    summary: 'Redirect the browser to the OpenID provider',
    query: Type.Object({
      again: Type.Optional(
        Type.Boolean({ description: 'Ask the provider not to trust its own session, for changes that give rights.' }),
      ),
    }),
    status: 302,
    async handle({ query, setHeader }, services) {
      const provider = providerOf(services)
      const location = await locationOf(services, async () => {
        const { url, checks } = await provider.authorizationUrl(`${services.urls().people}${API_BASE}${CALLBACK}`, query.again)
        setHeader('set-cookie', setCookie(signInCookie(services.urls()), checks))
        return url
      })
      setHeader('location', location)
      return undefined
    },
  }),
  operation({
    method: 'GET',
    path: CALLBACK,
    access: 'public',
    summary: 'Complete a sign-in: the redirect URI for the OpenID provider',
    query: Type.Object({}, { additionalProperties: true, description: "The provider's response." }),
    status: 302,
    async handle({ address, cookie, setHeader, url }, services) {
      const provider = providerOf(services)
      const urls = services.urls()
      const location = await locationOf(services, async () => {
        const checks = cookie(signInCookie(urls).name) ?? ''
        const identity = await provider.callback(new URL(urls.people + url), checks)
        setHeader('set-cookie', setCookie(sessionCookie(urls), await signInWithOpenId(services.store, identity, address)))
        return `${urls.people}/console/`
      })
      setHeader('set-cookie', setCookie(signInCookie(urls), ''))
      setHeader('location', location)
      return undefined
    },
  }),
]

/** The operator's provider. Throws `object_not_found`. */
function providerOf({ openid }: ManagementServices) {
  if (openid === undefined) throw new GatewayError('object_not_found', { values: { what: 'OpenID provider' } })
  return openid
}

/** Resolves to the redirect's location; for an error, to the sign-in page, which shows it by the code in its address. */
async function locationOf({ log, urls }: ManagementServices, signIn: () => Promise<string>): Promise<string> {
  try {
    return await signIn()
  } catch (thrown) {
    const error = toGatewayError(thrown)
    if (error.row !== 'openid_refused') log.warn({ err: error.cause ?? thrown }, 'sign-in by the OpenID provider failed')
    return `${urls().people}/console/sign-in?error=${error.code}`
  }
}
