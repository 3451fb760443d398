import { json, type ReceivedRequest, type Script } from 'unified-model-gateway/plugin/testing'

/** What @azure/identity reads of its environment; of whoever runs the tests none of it counts. */
const VARIABLES = [
  'IDENTITY_ENDPOINT',
  'IDENTITY_HEADER',
  'AZURE_TOKEN_CREDENTIALS',
  'AZURE_CLIENT_ID',
  'AZURE_TENANT_ID',
  'AZURE_CLIENT_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
]

/** What a token is for. */
const RESOURCE = 'https://cognitiveservices.azure.com'

/** The identity of a machine of Azure's App Service, as @azure/identity asks for it: the one that needs no TLS. */
export class IdentityServer {
  readonly #before = VARIABLES.map((name) => [name, process.env[name]] as const)

  /** From now on the library takes this origin for the machine's. */
  stand(origin: string): void {
    for (const name of VARIABLES) delete process.env[name]
    process.env.IDENTITY_ENDPOINT = `${origin}/MSI/token`
    process.env.IDENTITY_HEADER = 'of-the-machine'
    process.env.AZURE_TOKEN_CREDENTIALS = 'ManagedIdentityCredential'
  }

  /** The environment is again what it was. */
  leave(): void {
    for (const [name, value] of this.#before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }

  /** Answers what is asked of it; undefined for what is not. */
  answer({ path, headers }: ReceivedRequest): Script | undefined {
    if (!path.startsWith('/MSI/token')) return undefined
    if (headers['x-identity-header'] !== 'of-the-machine') return json({ message: 'who?' }, { status: 401 })
    const resource = new URL(path, 'http://machine').searchParams.get('resource')
    if (resource !== RESOURCE) return json({ message: `no token for ${resource}` }, { status: 400 })
    const expires_on = String(Math.floor(Date.now() / 1000) + 86_400)
    return json({ access_token: 'token-of-the-machine', expires_on, resource, token_type: 'Bearer' })
  }
}
