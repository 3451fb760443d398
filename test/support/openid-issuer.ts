import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { Provider } from 'oidc-provider'
import { type OpenIdProvider, openIdProvider } from '../../core/accounts/openid.ts'
import { Secret } from '../../core/sdk/api.ts'

/** The claims of a person at the provider. */
type Claims = { readonly email?: string; readonly email_verified?: boolean; readonly name?: string }

/** A real provider on loopback that authenticates by the header `x-client`. */
export interface Issuer {
  readonly url: string
  /** The gateway's side of it. */
  readonly openid: OpenIdProvider
  readonly people: Map<string, Claims>
  /** When a person has signed in there, in seconds since 1970. Default: now. */
  signedInAt: number | undefined
  /** Sets the redirect URI. */
  redirectTo(uri: string): void
  stop(): Promise<void>
}

const CLIENT = { client_id: 'umg', client_secret: 'the-secret-of-the-client' }

/** Starts the provider. */
export async function startIssuer(): Promise<Issuer> {
  // It warns that its settings are for tests.
  const silenced = (['info', 'warn'] as const).map((level) => mock.method(console, level, () => undefined))
  const people = new Map<string, Claims>()
  const redirect_uris: string[] = ['http://127.0.0.1/none']
  const server: Server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let provider = make()
  function make(): Provider {
    return new Provider(url, {
      clients: [{ ...CLIENT, redirect_uris, require_auth_time: true }],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...people.get(id) }) }),
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    })
  }
  server.on('request', async (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return provider.callback()(request, response)
    // A header names the person, who consents to everything.
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response)
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, {
        login: {
          accountId: String(request.headers['x-client']),
          ...(issuer.signedInAt !== undefined && { ts: issuer.signedInAt }),
        },
      })
    const grant = grantId ? await provider.Grant.find(grantId) : undefined
    const consent = grant ?? new provider.Grant({ accountId: session!.accountId, clientId: params.client_id as string })
    consent.addOIDCScope('openid email profile')
    await provider.interactionFinished(request, response, { consent: { grantId: await consent.save() } })
  })
  const issuer: Issuer = {
    url,
    openid: openIdProvider({
      issuer: url,
      clientId: CLIENT.client_id,
      clientSecret: new Secret(CLIENT.client_secret),
      name: 'Example',
    }),
    people,
    signedInAt: undefined,
    redirectTo(uri) {
      redirect_uris[0] = uri
      provider = make()
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      for (const { mock } of silenced) mock.restore()
    },
  }
  return issuer
}
