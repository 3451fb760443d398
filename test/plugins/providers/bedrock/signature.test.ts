import { mock } from 'node:test'
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import { expect } from 'chai'
import { Secret, type UpstreamRequest } from 'unified-model-gateway/plugin'
import { upstream } from './support.ts'

const ACCOUNT = '123456789012'
const ARN = 'arn:aws:bedrock'

/** AWS's ids, and some with characters that need encoding. */
const MODELS = [
  'anthropic.claude-3-haiku-20240307-v1:0',
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'global.amazon.nova-2-lite-v1:0',
  'anthropic.claude-3-5-sonnet-20241022-v2:0:51k',
  `${ARN}:us-east-1::foundation-model/amazon.nova-pro-v1:0`,
  `${ARN}:us-east-1:${ACCOUNT}:inference-profile/us.anthropic.claude-opus-4-6-v1`,
  `${ARN}:eu-central-1:${ACCOUNT}:application-inference-profile/ab12cd34ef56`,
  `${ARN}:us-west-2:${ACCOUNT}:provisioned-model/a1b2c3d4e5f6`,
  `${ARN}-us-gov:us-gov-west-1:${ACCOUNT}:custom-model-deployment/xyz`,
  "odd (name)*with 'signs'!+and%25=ümlaut",
]

const PERMANENT = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const TEMPORARY = {
  ...PERMANENT,
  accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
  sessionToken: 'IQoJb3JpZ2luX2VjEOr//////////wEaCXVzLWVhc3QtMSJHMEUCIQ==',
}

const SIGNED = ['authorization', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token']

interface Asked {
  readonly model: string
  readonly region: string
  readonly stream: boolean
  readonly keys: typeof PERMANENT & { readonly sessionToken?: string }
  readonly baseUrl?: string
}

/** Every model with both operations and each kind of key, in several regions; two at a private endpoint. */
const REQUESTS: readonly Asked[] = MODELS.flatMap((model, index) => [
  { model, region: ['us-east-1', 'eu-central-1', 'us-gov-west-1'][index % 3]!, stream: false, keys: PERMANENT },
  {
    model,
    region: ['ap-northeast-1', 'us-west-2'][index % 2]!,
    stream: true,
    keys: TEMPORARY,
    ...(index % 5 === 0 && { baseUrl: 'https://vpce-0a1b.bedrock-runtime.us-east-1.vpce.amazonaws.com:8443/through/a/proxy' }),
  },
])

describe('bedrock: signatures', () => {
  before(() => mock.timers.enable({ apis: ['Date'], now: new Date('2026-08-22T12:34:56Z') }))
  after(() => mock.timers.reset())

  it('are compared for twenty requests', () => expect(REQUESTS).to.have.length(20))

  for (const asked of REQUESTS) {
    const { model, region, stream, keys, baseUrl } = asked
    const how = [stream ? 'a stream' : 'a reply', keys.sessionToken && 'a session token', baseUrl && 'a private endpoint']
    it(`are those of the AWS SDK for ${model} in ${region}, ${how.filter(Boolean).join(', ')}`, async () => {
      const ours = await send(asked)
      const theirs = await sendByAws(asked, String(ours.body))
      expect({ origin: ours.origin, path: ours.path }).to.deep.equal({ origin: theirs.origin, path: theirs.path })
      expect(opened(ours)).to.deep.equal(theirs.headers)
    })
  }
})

function send({ model, region, stream, keys, baseUrl }: Asked): Promise<UpstreamRequest> {
  const secrets = Object.entries(keys).map(([name, value]) => [name, new Secret(value)])
  const config = { region, apiKey: undefined, ...Object.fromEntries(secrets), ...(baseUrl && { baseUrl }) }
  return upstream({ model, stream, messages: [{ role: 'user', content: 'Grüße, 世界 👋' }] }, config)
}

/** The headers of a signature, in the clear. */
function opened({ headers }: UpstreamRequest): Record<string, string> {
  const present = SIGNED.filter((name) => headers[name] !== undefined)
  return Object.fromEntries(
    present.map((name) => {
      const value = headers[name]!
      return [name, value instanceof Secret ? value.reveal() : value]
    }),
  )
}

/** The address and the signature of AWS's own client for these bytes. */
async function sendByAws({ model, region, stream, keys, baseUrl }: Asked, body: string) {
  const sent = Promise.withResolvers<Seen>()
  const client = new BedrockRuntimeClient({
    region,
    // The SDK stores its source in it.
    credentials: { ...keys },
    ...(baseUrl && { endpoint: baseUrl }),
    requestHandler: {
      handle(request: Seen) {
        sent.resolve(request)
        return Promise.reject(new Error('seen enough'))
      },
    },
    maxAttempts: 1,
  })
  const onlyBody = (next: (args: { request: Seen }) => unknown) => (args: { request: Seen }) => {
    const { host } = args.request.headers
    // The SDK also signs the headers that it adds.
    return next({
      ...args,
      request: Object.assign(args.request, { body, headers: { host, 'content-type': 'application/json' } }),
    })
  }
  client.middlewareStack.addRelativeTo(onlyBody as never, { relation: 'before', toMiddleware: 'httpSigningMiddleware' })
  const input = { modelId: model, messages: [] }
  const sending = stream ? client.send(new ConverseStreamCommand(input)) : client.send(new ConverseCommand(input))
  sending.catch(() => undefined)
  const { protocol, hostname, port, path, headers } = await sent.promise
  const seen = Object.entries(headers).filter(([name]) => SIGNED.includes(name))
  return { origin: `${protocol}//${hostname}${port ? `:${port}` : ''}`, path, headers: Object.fromEntries(seen) }
}

interface Seen {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}
