import { randomUUID } from 'node:crypto'
import {
  type Bytes,
  FIN,
  json,
  type ReceivedRequest,
  reply,
  type Said,
  type Script,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
} from '../../../core/testing/kit.ts'
import { inPieces } from '../../../core/testing/upstream/openai-reply.ts'
import { changeEnvironment } from '../../support/environment.ts'
import { startTestGateway } from '../../support/gateway.ts'
import { refusedBy } from '../../support/strict-vendors.ts'
import { CHAT_ONLY, VENDORS, type Vendor } from './vendors.ts'

/** A model behind the gateway whose words are scripted. */
export interface ScriptedModel {
  readonly vendor: Vendor
  /** As clients name it. */
  readonly id: string
  /** What it says to the next requests, in this order, and to no other. */
  script(turns: readonly Said[]): void
  /** What it says to each request with this body. */
  answer(says: (body: string) => Said): void
  /** Its upstream's answer to each request. */
  refuse(script: Script): void
  /** It streams the first half of this text, and closes the connection. */
  breakOff(text: string): void
  /** The requests that its upstream got since then. */
  readonly asked: readonly Asked[]
}

/** A request to a model's upstream. */
export interface Asked {
  readonly body: string
  readonly streamed: boolean
  /** The version of Anthropic's API that it names. */
  readonly version: string | undefined
}

/** One gateway with a model of each vendor. */
export interface Fixture {
  readonly url: string
  readonly key: string
  readonly models: ReadonlyMap<Vendor, ScriptedModel>
  stop(): Promise<void>
}

/** What a scripted upstream counts for a client that asks for the tokens of a prompt. */
export const COUNTED = 14

/** Starts the gateway and an upstream for each vendor. `more`: further namespaces. `settings`: further sections of routes.yaml. */
export async function startFixture(
  vendors: readonly Vendor[] = [...VENDORS, CHAT_ONLY],
  more: Readonly<Record<string, object>> = {},
  settings: Readonly<Record<string, object>> = {},
): Promise<Fixture> {
  await using opened = new AsyncDisposableStack()
  const start = async () => opened.adopt(await scriptedUpstream(), (upstream) => upstream.close())
  opened.defer(onGoogleCloud(await start()))
  const models = new Map<Vendor, ScriptedModel>()
  const namespaces: Record<string, object> = { ...more }
  for (const vendor of vendors) {
    const upstream = await start()
    models.set(vendor, scriptedModel(vendor, upstream))
    namespaces[vendor.name] = { provider: vendor.provider, breaker: false, config: vendor.config(upstream.origin) }
  }
  const routes = { chain: [{ plugin: 'auth' }], namespaces, ...settings }
  const gateway = await startTestGateway({ env: { KEY: 'sk-of-the-upstream', KEEPING_KEY: 'k'.repeat(32) }, routes })
  opened.defer(() => gateway.stop())
  const all = opened.move()
  return { url: gateway.url, key: gateway.liveKey, models, stop: () => all.disposeAsync() }
}

function scriptedModel(vendor: Vendor, upstream: ScriptedUpstream): ScriptedModel {
  let says: (body: string) => Said
  let lastWords: string | undefined
  let refusal: Script | undefined
  let asked: Asked[] = []
  upstream.on((request) => {
    // Lists of models.
    if (request.method === 'GET') return json({}, { status: 404 })
    if (COUNT_PATHS.test(request.path)) return json({ input_tokens: COUNTED, inputTokens: COUNTED, totalTokens: COUNTED })
    const streamed = isStreamed(request)
    const body = request.body.toString()
    asked.push({ body, streamed, version: request.headers['anthropic-version'] as string | undefined })
    if (refusal !== undefined) return refusal
    const rule = vendor.strict && refusedBy(vendor.strict, request)
    if (rule !== undefined) return vendor.strict!.refusal(rule.what)
    const said = vendor.reply(withIds(says(body)), request.path)
    if (!streamed) return json(said.whole)
    const { streamType = 'text/event-stream' } = vendor
    const stream = lastWords === undefined ? said.stream : brokenAfter(lastWords, said.stream)
    return reply(stream, { framing: 'chunked', headers: { 'content-type': streamType } })
  })
  return {
    vendor,
    id: `${vendor.name}/${vendor.model}`,
    script(turns) {
      const left = [...turns]
      this.answer((body) => {
        if (left.length === 0) throw new Error(`${vendor.name} has nothing more to say to ${body}`)
        return left.shift()!
      })
    },
    answer(next) {
      says = next
      lastWords = undefined
      refusal = undefined
      asked = []
    },
    refuse(script) {
      this.script([])
      refusal = script
    },
    breakOff(text) {
      this.script([{ text }])
      lastWords = inPieces(text)[0]
    },
    get asked() {
      return asked
    },
  }
}

/** As vendors make them: no id of a call comes twice. */
function withIds({ tools, ...said }: Said): Said {
  return { ...said, ...(tools && { tools: tools.map((tool) => ({ ...tool, id: `call_${randomUUID().replaceAll('-', '')}` })) }) }
}

/** The events up to the one with these words, and the end of the connection. */
function brokenAfter(words: string, stream: readonly Bytes[]): readonly Step[] {
  const last = stream.findIndex((event) => textIn(event).includes(words))
  return [...stream.slice(0, last + 1), FIN]
}

/** The text of an event, which Bedrock's chunks have as base64. */
function textIn(event: Bytes): string {
  const text = Buffer.from(event).toString()
  const [, bytes = ''] = /"bytes":"([^"]*)"/.exec(text) ?? []
  return text + Buffer.from(bytes, 'base64').toString()
}

/** Of Anthropic, Bedrock and Claude on Vertex AI, and of Gemini. */
const COUNT_PATHS = /count_tokens|count-tokens|countTokens/

/** Some upstreams read it from the body, some from the path. */
export function isStreamed({ path, ...request }: ReceivedRequest): boolean {
  return /stream/i.test(path) || (request.json() as { readonly stream?: boolean }).stream === true
}

/** Gives this process the identity of a machine on Google Cloud, whose metadata server this is. Returns what ends it. */
export function onGoogleCloud(server: ScriptedUpstream): () => void {
  const token = { access_token: 'token-of-the-machine', expires_in: 3600, token_type: 'Bearer' }
  server.on(() => json(token, { headers: { 'metadata-flavor': 'Google' } }))
  return changeEnvironment({
    GCE_METADATA_HOST: new URL(server.origin).host,
    METADATA_SERVER_DETECTION: 'assume-present',
    CLOUDSDK_CONFIG: '/nowhere',
    GOOGLE_APPLICATION_CREDENTIALS: undefined,
  })
}
