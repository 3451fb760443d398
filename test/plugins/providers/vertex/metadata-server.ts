import {
  json,
  type ReceivedRequest,
  type Script,
  type ScriptedUpstream,
  scriptedUpstream,
} from 'unified-model-gateway/plugin/testing'

/** The environment variables of google-auth-library: unset during the tests. */
const VARIABLES = [
  'GCE_METADATA_HOST',
  'GCE_METADATA_IP',
  'METADATA_SERVER_DETECTION',
  'CLOUDSDK_CONFIG',
  'GOOGLE_APPLICATION_CREDENTIALS',
]

/** Google's metadata server for google-auth-library (`gcp-metadata`); tokens are `token-1`, `token-2` … */
export class MetadataServer {
  /** The number of tokens so far. */
  tokens = 0
  /** A status other than 200 is a refusal. */
  status = 200
  readonly #before = VARIABLES.map((name) => [name, process.env[name]] as const)

  /** Makes the library use the metadata server at this origin. */
  stand(origin: string): void {
    for (const name of VARIABLES) delete process.env[name]
    process.env.GCE_METADATA_HOST = new URL(origin).host
    process.env.METADATA_SERVER_DETECTION = 'assume-present'
    process.env.CLOUDSDK_CONFIG = '/nowhere'
  }

  /** Restores the environment. */
  leave(): void {
    for (const [name, value] of this.#before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }

  /** The reply to a request; undefined for requests to other services. */
  answer({ path }: ReceivedRequest): Script | undefined {
    if (!path.startsWith('/computeMetadata/v1')) return undefined
    const headers = { 'metadata-flavor': 'Google' }
    if (this.status !== 200) return json({ error: 'invalid_grant', secret: 'of-the-server' }, { status: this.status, headers })
    if (!path.includes('/token')) return json({}, { headers })
    return json({ access_token: `token-${++this.tokens}`, expires_in: 3600, token_type: 'Bearer' }, { headers })
  }
}

/** Runs the tests of a `describe` on a machine of Google's. Returns its metadata server and its origin. */
export function onGoogleCloud(): { readonly metadata: MetadataServer; readonly server: ScriptedUpstream } {
  const stage: { metadata: MetadataServer; server: ScriptedUpstream } = { metadata: undefined!, server: undefined! }

  beforeEach(async () => {
    stage.metadata = new MetadataServer()
    stage.server = await scriptedUpstream()
    stage.server.on((request) => stage.metadata.answer(request)!)
    stage.metadata.stand(stage.server.origin)
  })

  afterEach(async () => {
    stage.metadata.leave()
    await stage.server.close()
  })

  return stage
}
