import nock from 'nock'
import { setEnvironment } from '../../../support/environment.ts'
import { interceptHttp } from '../../../support/intercept-http.ts'

const RESOURCE = 'https://cognitiveservices.azure.com'

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

/** Runs the tests of a `describe` as on Azure's App Service, with nock as its identity endpoint. The token is `token-of-the-machine`. */
export function onAppService(): void {
  setEnvironment(ENVIRONMENT)
  interceptHttp(() => {
    nock(ORIGIN, { reqheaders: { 'x-identity-header': SECRET } })
      .persist()
      .get('/MSI/token')
      .query(({ resource }) => resource === RESOURCE)
      .reply(200, () => ({
        access_token: 'token-of-the-machine',
        expires_on: String(Math.floor(Date.now() / 1000) + 86_400),
        resource: RESOURCE,
        token_type: 'Bearer',
      }))
  })
}
