import { readFileSync } from 'node:fs'
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
import plugin from '../../../../plugins/providers/cohere/index.ts'
import type { ChatBody } from '../../../../plugins/providers/cohere/wire.ts'

/** A model that takes every mapped parameter. */
export const MODEL = 'command-a-plus-05-2026'

/** The provider as routes.yaml would configure it. */
export function cohere(config: PluginConfig = {}): Promise<Provider> {
  return createProvider(plugin, { apiKey: new Secret('cohere-api-key-of-test'), ...config })
}

/** The upstream request for a body. `model`: Cohere's name of it. */
export async function upstream(body: Readonly<Record<string, unknown>>, config: PluginConfig = {}): Promise<UpstreamRequest> {
  const call = testCall({ ...body, model: `co/${body.model ?? MODEL}` })
  return (await (await cohere(config)).request(call, testAttempt(call))) as UpstreamRequest
}

/** The translated body. */
export async function translate(body: Readonly<Record<string, unknown>>, config: PluginConfig = {}): Promise<ChatBody> {
  return JSON.parse(String((await upstream(body, config)).body))
}

/** The error of a refused request. */
export async function refusalOf(body: Readonly<Record<string, unknown>>): Promise<string> {
  return translate(body).then(
    () => 'not refused',
    (error: unknown) => String(error),
  )
}

/** An event on the wire. `data`: its JSON, or an invalid text. */
export function event(data: object | string): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/** The events of a fixture, which has the data of one event per line. */
export function fixture(name: string): string[] {
  const lines = readFileSync(new URL(`fixtures/${name}.jsonl`, import.meta.url), 'utf8').split('\n')
  return lines.filter(Boolean).map(event)
}

/** Translates events and joins the chunks as a client does. Throws the error that the client would get. */
export async function hear(events: readonly string[]): Promise<Gathered['choices'][0] & Pick<Gathered, 'usage'>> {
  const { chunks, failure } = runTranslator(await cohere(), { stream: events })
  if (failure) throw failure
  const { choices, usage } = gather(chunks)
  return { ...choices[0]!, usage }
}
