import { json, type ReceivedRequest, type Script } from 'unified-model-gateway/plugin/testing'

/** The environment variables of @azure/identity: unset during the tests. */
const VARIABLES = [
  'IDENTITY_ENDPOINT',
  'IDENTITY_HEADER',
  'AZURE_TOKEN_CREDENTIALS',
  'AZURE_CLIENT_ID',
  'AZURE_TENANT_ID',
  'AZURE_CLIENT_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
]

/** The scope of a token. */
const RESOURCE = 'https://cognitiveservices.azure.com'

/** The identity server of Azure's App Service for @azure/identity: the only one without TLS. */
export class IdentityServer {
  readonly #before = VARIABLES.map((name) => [name, process.env[name]] as const)

  /** Makes the library use the identity server at this origin. */
  stand(origin: string): void {
    for (const name of VARIABLES) delete process.env[name]
    process.env.IDENTITY_ENDPOINT = `${origin}/MSI/token`
    process.env.IDENTITY_HEADER = 'of-the-machine'
    process.env.AZURE_TOKEN_CREDENTIALS = 'ManagedIdentityCredential'
  }

  /** Restores the environment. */
  leave(): void {
    for (const [name, value] of this.#before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }

  /** The reply to a request; undefined for requests to other services. */
  answer({ path, headers }: ReceivedRequest): Script | undefined {
    if (!path.startsWith('/MSI/token')) return undefined
    if (headers['x-identity-header'] !== 'of-the-machine') return json({ message: 'who?' }, { status: 401 })
    const resource = new URL(path, 'http://machine').searchParams.get('resource')
    if (resource !== RESOURCE) return json({ message: `no token for ${resource}` }, { status: 400 })
    const expires_on = String(Math.floor(Date.now() / 1000) + 86_400)
    return json({ access_token: 'token-of-the-machine', expires_on, resource, token_type: 'Bearer' })
  }
}
