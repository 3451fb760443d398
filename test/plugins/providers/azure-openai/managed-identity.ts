import nock from 'nock'
import { setEnvironment } from '../../../support/environment.ts'
import { interceptHttp } from '../../../support/intercept-http.ts'

/** The tokens of the resources of each cloud. */
const TOKENS: Readonly<Record<string, string>> = {
  'https://cognitiveservices.azure.com': 'token-of-the-machine',
  'https://cognitiveservices.azure.us': 'token-of-the-government',
  'https://cognitiveservices.azure.cn': 'token-of-china',
}

const ORIGIN = 'http://identity.example'
const SECRET = 'of-the-machine'

/** The variables that @azure/identity reads. */
const ENVIRONMENT = {
  IDENTITY_ENDPOINT: `${ORIGIN}/MSI/token`,
  IDENTITY_HEADER: SECRET,
  AZURE_TOKEN_CREDENTIALS: 'ManagedIdentityCredential',
  AZURE_CLIENT_ID: undefined,
  AZURE_TENANT_ID: undefined,
  AZURE_CLIENT_SECRET: undefined,
  AZURE_FEDERATED_TOKEN_FILE: undefined,
}

/** Runs the tests of a `describe` as on Azure's App Service, with nock as its identity endpoint, which has a token for each resource of TOKENS. */
export function onAppService(): void {
  setEnvironment(ENVIRONMENT)
  interceptHttp(() => {
    for (const [resource, access_token] of Object.entries(TOKENS)) {
      nock(ORIGIN, { reqheaders: { 'x-identity-header': SECRET } })
        .persist()
        .get('/MSI/token')
        .query((query) => query.resource === resource)
        .reply(200, () => {
          const expires_on = String(Math.floor(Date.now() / 1000) + 86_400)
          return { access_token, expires_on, resource, token_type: 'Bearer' }
        })
    }
  })
}
