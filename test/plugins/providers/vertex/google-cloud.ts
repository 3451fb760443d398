import nock from 'nock'
import { setEnvironment } from '../../../support/environment.ts'
import { interceptHttp } from '../../../support/intercept-http.ts'

/** The variables that google-auth-library reads. */
const ENVIRONMENT = {
  GCE_METADATA_HOST: undefined,
  GCE_METADATA_IP: undefined,
  METADATA_SERVER_DETECTION: 'assume-present',
  CLOUDSDK_CONFIG: '/nowhere',
  GOOGLE_APPLICATION_CREDENTIALS: undefined,
}

/** The metadata server of a machine on Google Cloud; tokens are `token-1`, `token-2` … in each test. */
export interface MetadataServer {
  /** Tokens issued so far. */
  tokens: number
  /** The status of its replies. */
  status: number
}

/** Runs the tests of a `describe` as on Google Cloud, with nock as its metadata server. */
export function onGoogleCloud(): MetadataServer {
  const server: MetadataServer = { tokens: 0, status: 200 }
  const headers = { 'metadata-flavor': 'Google' }

  function token() {
    if (server.status !== 200) return [server.status, { error: 'invalid_grant', secret: 'of-the-server' }, headers] as const
    return [200, { access_token: `token-${++server.tokens}`, expires_in: 3600, token_type: 'Bearer' }, headers] as const
  }

  setEnvironment(ENVIRONMENT)
  interceptHttp(() => {
    Object.assign(server, { tokens: 0, status: 200 })
    const metadata = nock('http://169.254.169.254').persist()
    metadata.get(/^\/computeMetadata\/v1\/.*\/token/).reply(token)
    metadata.get(/^\/computeMetadata\/v1/).reply(200, {}, headers)
  })
  return server
}
