import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type ConverseStreamCommandInput,
} from '@aws-sdk/client-bedrock-runtime'
import type { ConverseRequest } from '../../../../plugins/providers/bedrock/wire.ts'

type Input = ConverseCommandInput & ConverseStreamCommandInput

/** Any JSON, with the SDK's type. */
type Document = NonNullable<Input['additionalModelRequestFields']>

/** The SDK's input as JSON: bytes are base64, and documents are any JSON. */
type OnTheWire<T> = [Document] extends [T] ? unknown : Written<T>
type Written<T> = T extends Uint8Array
  ? string
  : T extends readonly (infer Item)[]
    ? readonly OnTheWire<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: OnTheWire<T[Key]> }
      : T

/** Compiles if the SDK takes every request of this provider. */
export const taken = (request: ConverseRequest): Omit<OnTheWire<Input>, 'modelId'> => request

/** The request as the SDK writes it, without members that it does not know. */
export async function writtenBySdk(request: ConverseRequest, stream = false): Promise<unknown> {
  const written = Promise.withResolvers<Uint8Array>()
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret' },
    requestHandler: {
      handle({ body }: { readonly body: Uint8Array }) {
        written.resolve(body)
        return Promise.reject(new Error('seen enough'))
      },
    },
    maxAttempts: 1,
  })
  const input = { ...(withBytes(request) as Input), modelId: 'm' }
  const sending = stream ? client.send(new ConverseStreamCommand(input)) : client.send(new ConverseCommand(input))
  sending.catch(written.reject)
  return JSON.parse(new TextDecoder().decode(await written.promise))
}

const BYTES: ReadonlySet<string> = new Set(['bytes', 'redactedContent'])

/** The request with bytes instead of base64. */
function withBytes(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return BYTES.has(key) ? new Uint8Array(Buffer.from(value, 'base64')) : value
  if (Array.isArray(value)) return value.map((entry) => withBytes(entry))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withBytes(entry, name)]))
}
