import { Type } from 'typebox'
import { signInWithOpenId } from '../accounts/openid.ts'
import { GatewayError } from '../errors.ts'
import { isUnavailable } from '../store/unavailable.ts'
import { sessionCookie, setCookie, signInCookie } from './caller.ts'
import { BASE, type ManagementServices, type Route, route } from './operation.ts'

const CALLBACK = '/oidc/callback'

/** The provider that the operator named. Throws `object_not_found`. */
function providerOf({ openid }: ManagementServices) {
  if (openid === undefined) throw new GatewayError('object_not_found', { values: { what: 'OpenID provider' } })
  return openid
}

/**
 * It is a browser that comes here, and a person that looks at it: what went wrong the sign-in page tells, by the code of the error in
 * its address (`/console/sign-in?error=openid_refused`).
 */
async function redirect(work: () => Promise<string>, { log, urls }: ManagementServices): Promise<string> {
  try {
    return await work()
  } catch (err) {
    const error =
      err instanceof GatewayError ? err : new GatewayError(isUnavailable(err) ? 'storage_unavailable' : 'internal_error')
    if (error.row !== 'openid_refused') log.warn({ err: error.cause ?? err }, 'sign-in by the OpenID provider failed')
    return `${urls().people}/console/sign-in?error=${error.code}`
  }
}

/** Signing in by the OpenID provider: a browser goes there, and comes back. */
export const oidcRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/oidc/start',
    role: 'nobody',
    summary: 'Send the browser to the OpenID provider',
    status: 302,
    async handle({ header }, services) {
      const provider = providerOf(services)
      const location = await redirect(async () => {
        const { url, memo } = await provider.begin(`${services.urls().people}${BASE}${CALLBACK}`)
        header('set-cookie', setCookie(signInCookie(services.urls()), memo))
        return url
      }, services)
      header('location', location)
      return undefined
    },
  }),
  route({
    method: 'GET',
    path: CALLBACK,
    role: 'nobody',
    summary: 'Where the OpenID provider sends the browser back to',
    query: Type.Object({}, { additionalProperties: true, description: 'What the provider says.' }),
    status: 302,
    async handle({ address, cookie, header, url }, services) {
      const provider = providerOf(services)
      const urls = services.urls()
      const location = await redirect(async () => {
        const memo = cookie(signInCookie(urls).name) ?? ''
        const identity = await provider.finish(new URL(urls.people + url), memo)
        header('set-cookie', setCookie(sessionCookie(urls), await signInWithOpenId(services.store, identity, address)))
        return `${urls.people}/console/`
      }, services)
      header('set-cookie', setCookie(signInCookie(urls), ''))
      header('location', location)
      return undefined
    },
  }),
]
