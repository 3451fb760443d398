import { readFileSync } from 'node:fs'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { type Provider, Secret, type UpstreamRequest } from 'unified-model-gateway/plugin'
import {
  createProvider,
  type Gathered,
  gather,
  type PluginConfig,
  runTranslator,
  testAttempt,
  testCall,
} from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/bedrock/index.ts'
import type { Block, ConverseRequest } from '../../../../plugins/providers/bedrock/wire.ts'

/** A model that takes every mapped parameter. */
export const MODEL = 'us.anthropic.claude-sonnet-4-6'

/** The provider as routes.yaml would configure it. */
export function bedrock(config: PluginConfig = {}): Promise<Provider> {
  return createProvider(plugin, { region: 'us-east-1', apiKey: new Secret('bedrock-api-key-of-test'), ...config })
}

/** The upstream request for a body. `model`: Bedrock's name of it. */
export async function upstream(body: Readonly<Record<string, unknown>>, config: PluginConfig = {}): Promise<UpstreamRequest> {
  const call = testCall({ ...body, model: `aws/${body.model ?? MODEL}` })
  return (await (await bedrock(config)).request(call, testAttempt(call))) as UpstreamRequest
}

/** The translated body. */
export async function translate(body: Readonly<Record<string, unknown>>, config: PluginConfig = {}): Promise<ConverseRequest> {
  return JSON.parse(String((await upstream(body, config)).body))
}

/** The blocks of all messages of a translated body. */
export function blocksOf(request: ConverseRequest): Block[] {
  return request.messages.flatMap(({ content }) => content)
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text),
)

/** A frame of AWS's own codec: an event, or another type by its headers. */
export function frame(headers: Readonly<Record<string, string>>, payload: unknown): Buffer {
  const texts = Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }])
  return Buffer.from(codec.encode({ headers: Object.fromEntries(texts), body: Buffer.from(JSON.stringify(payload)) }))
}

/** An event of ConverseStream, with its type as the key: `{ messageStart: { role: 'assistant' } }`. */
export function event(one: Readonly<Record<string, unknown>>): Buffer {
  const [type, payload] = Object.entries(one)[0]!
  return frame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload)
}

/** An exception within a stream: `throttlingException`. */
export function exception(type: string, message: string): Buffer {
  return frame({ ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }, { message })
}

/** The frames of a fixture, which has one event per line. */
export function fixture(name: string): Buffer[] {
  const lines = readFileSync(new URL(`fixtures/${name}.jsonl`, import.meta.url), 'utf8').split('\n')
  return lines.filter(Boolean).map((line) => event(JSON.parse(line)))
}

/** Translates frames and joins the chunks as a client does. Throws the error that the client would get. */
export async function hear(
  frames: readonly Buffer[],
  asked: Readonly<Record<string, unknown>> = {},
): Promise<Gathered['choices'][0] & Pick<Gathered, 'usage'>> {
  const { chunks, failure } = runTranslator(await bedrock(), { stream: frames }, { model: `aws/${MODEL}`, ...asked })
  if (failure) throw failure
  const { choices, usage } = gather(chunks)
  return { ...choices[0]!, usage }
}
