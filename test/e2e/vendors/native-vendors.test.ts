// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import {
  json,
  openaiReply,
  type ReceivedRequest,
  type Script,
  type ScriptedUpstream,
  scriptedUpstream,
} from '../../../core/testing/kit.ts'
import { responsesReply } from '../../../core/testing/upstream/responses-reply.ts'
import { message, text } from '../../plugins/providers/anthropic/messages-api.ts'
import { content as coherePart, reply as cohereReply, tool as cohereTool } from '../../plugins/providers/cohere/chat-reply.ts'
import { call as geminiCall, reply as geminiReply } from '../../plugins/providers/gemini/generate-content.ts'
import { interaction, call as interactionCall, output } from '../../plugins/providers/gemini/interactions.ts'
import { call as ollamaCall, reply as ollamaReply } from '../../plugins/providers/ollama/chat-api.ts'
import { onGoogleCloud } from '../../plugins/providers/vertex/google-cloud.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { CALLS, type ClientCall } from './native-calls.ts'
import { type NATIVE_RULES, refusalOf } from './native-rules.ts'

type Api = keyof typeof NATIVE_RULES

const key = (origin: string) => ({ baseUrl: origin, apiKey: '${env:KEY}' })

/** The providers with APIs of their own, and models of theirs by generation. */
const NATIVES: readonly {
  readonly name: string
  readonly namespace: (origin: string) => object
  readonly models: readonly string[]
}[] = [
  {
    name: 'anthropic',
    namespace: (origin) => ({ provider: 'anthropic', config: key(origin) }),
    models: ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-opus-4-8', 'claude-opus-4-6', 'claude-haiku-4-5'],
  },
  {
    name: 'bedrock',
    namespace: (origin) => ({ provider: 'bedrock', config: { ...key(origin), region: 'us-east-1' } }),
    models: [
      'us.anthropic.claude-opus-5-5',
      'us.anthropic.claude-opus-4-6-v1',
      'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'us.amazon.nova-2-lite-v1:0',
      'us.meta.llama3-3-70b-instruct-v1:0',
      'mistral.mistral-large-3-675b-instruct',
      'openai.gpt-oss-120b-1:0',
    ],
  },
  {
    name: 'converse',
    // Clients of the Messages API would reach Claude itself.
    namespace: (origin) => ({
      provider: 'bedrock',
      config: { ...key(origin), region: 'us-east-1', facts: { '*': { messages: 'none' } } },
    }),
    models: ['us.anthropic.claude-opus-5-5', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  },
  {
    name: 'vertex',
    namespace: (origin) => ({ provider: 'vertex', config: { project: 'acme-ai', region: 'us-east5', baseUrl: origin } }),
    models: ['claude-opus-5-5', 'claude-opus-4-6', 'claude-haiku-4-5@20251001', 'gemini-3.6-flash', 'gemini-2.5-pro'],
  },
  {
    name: 'gemini',
    namespace: (origin) => ({ provider: 'gemini', config: key(origin) }),
    models: ['gemini-3.6-flash', 'gemini-3-pro-preview', 'gemini-2.5-pro', 'gemini-2.0-flash'],
  },
  {
    name: 'interactions',
    namespace: (origin) => ({ provider: 'gemini', config: { ...key(origin), api: 'interactions' } }),
    models: ['gemini-3.6-flash', 'gemini-3-pro-preview', 'gemini-2.5-pro'],
  },
  {
    name: 'cohere',
    namespace: (origin) => ({ provider: 'cohere', config: key(origin) }),
    models: ['command-a-reasoning-08-2025', 'command-r-08-2024'],
  },
  { name: 'ollama', namespace: (origin) => ({ provider: 'ollama', config: key(origin) }), models: ['gpt-oss', 'llama3.2'] },
  {
    name: 'azure',
    namespace: (origin) => ({ provider: 'azure-openai', config: key(origin) }),
    models: ['gpt-4.1', 'gpt-5', 'gpt-5.4', 'gpt-6-astra'],
  },
  {
    name: 'openai',
    namespace: (origin) => ({ provider: 'openai-compatible', config: { ...key(`${origin}/v1`), preset: 'openai' } }),
    models: ['gpt-4.1', 'gpt-5', 'gpt-5.4', 'gpt-6-astra'],
  },
]

/** They get the bytes of clients that speak their own protocol: what is wrong in these is the client's own, and the vendor says so. */
const isPassedOn = (native: string, model: string, { protocol }: ClientCall): boolean =>
  (protocol === 'chat' && ['azure', 'openai'].includes(native)) ||
  (protocol === 'responses' && ['azure', 'openai'].includes(native)) ||
  (protocol === 'messages' && ['anthropic', 'bedrock', 'vertex'].includes(native) && model.includes('claude'))

/** The API that a request is for, and the model. */
function askedOf({ path, json: read }: ReceivedRequest): readonly [Api, string] {
  const { model = '' } = read() as { model?: string }
  const inPath = /(?:model|models|deployments)\/([^/:]+(?:%3A[^/]+)?)/.exec(path)?.[1]
  const named = decodeURIComponent(inPath ?? model)
  if (path.includes('/publishers/anthropic/')) return ['vertex-claude', named]
  if (path.includes('/publishers/google/')) return ['vertex-gemini', named]
  if (path.includes('enerateContent')) return ['gemini', named]
  if (path.endsWith('/interactions')) return ['gemini-interactions', model]
  if (path.endsWith('/converse')) return ['converse', named]
  if (path.endsWith('/invoke')) return ['invoke', named]
  if (path.startsWith('/v2/chat')) return ['cohere', model]
  if (path.startsWith('/api/chat')) return ['ollama', model]
  if (path.includes('/chat/completions')) return ['openai-chat', model]
  return [path.includes('/responses') ? 'openai-responses' : 'anthropic', model]
}

const ANSWER = { city: 'Hello.' }
/** It fits the schemas of all calls. */
const SAID = JSON.stringify(ANSWER)

const converseReply = (content: object, stopReason: string) => ({
  output: { message: { role: 'assistant', content: [content] } },
  stopReason,
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
})

const REPLIES: Readonly<Record<Api, () => object>> = {
  anthropic: () => message([text(SAID)]).whole,
  'vertex-claude': () => message([text(SAID)]).whole,
  invoke: () => message([text(SAID)]).whole,
  converse: () => converseReply({ text: SAID }, 'end_turn'),
  gemini: () => geminiReply([{ text: SAID }]).whole as object,
  'gemini-interactions': () => interaction([output(SAID)]).whole,
  'vertex-gemini': () => geminiReply([{ text: SAID }]).whole as object,
  cohere: () => cohereReply([coherePart('text', SAID)], 'COMPLETE').whole as object,
  ollama: () => ollamaReply([{ content: SAID }]).whole as object,
  'openai-chat': () => openaiReply({ text: SAID }).whole as object,
  'openai-responses': () => responsesReply({ text: SAID }).whole as object,
}

const geminiAnswer = (): object => geminiReply([geminiCall('answer', ANSWER)]).whole as object

/** The answers of models that follow a schema by a tool only. */
const CALLED: Partial<Record<Api, () => object>> = {
  converse: () => converseReply({ toolUse: { toolUseId: 'tooluse_1', name: 'answer', input: ANSWER } }, 'tool_use'),
  gemini: geminiAnswer,
  'gemini-interactions': () => interaction([interactionCall('call_1', 'answer', ANSWER)]).whole,
  'vertex-gemini': geminiAnswer,
  cohere: () => cohereReply([cohereTool('call_1', 'answer', SAID)], 'TOOL_CALL').whole as object,
  ollama: () => ollamaReply([ollamaCall(0, 'answer', ANSWER)]).whole as object,
}

/** Whether the model is given a tool for its answer, which only the gateway calls so. */
const mustCall = (body: unknown): boolean => JSON.stringify(body).includes('Gives your answer to the user.')

const count = CALLS.length * NATIVES.flatMap(({ models }) => models).length

describe(`before vendors with APIs of their own, which refuse what they are known to refuse: ${count} calls`, () => {
  onGoogleCloud()
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let refusals: string[] = []

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on((request): Script => {
      const [api, model] = askedOf(request)
      const refusal = refusalOf(api, request.json(), model, request.headers)
      if (refusal === undefined) return json(((mustCall(request.json()) && CALLED[api]) || REPLIES[api])())
      refusals.push(`${api}: ${refusal}`)
      return json(
        { error: { message: refusal, type: 'invalid_request_error', param: 'messages' }, message: refusal },
        { status: 400 },
      )
    })
    gateway = await startTestGateway({
      env: { KEY: 'up' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: Object.fromEntries(
          NATIVES.map(({ name, namespace }) => [name, { ...namespace(upstream.origin), breaker: false }]),
        ),
      },
    })
  })
  beforeEach(() => {
    refusals = []
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  for (const { name: native, models } of NATIVES)
    for (const call of CALLS)
      it(`${native}: ${call.name} is served, or refused before it is sent`, async () => {
        const faults: string[] = []
        for (const model of models) {
          refusals = []
          const { path, body, headers = {} } = call
          const before = upstream.requests.length
          const reply = await gateway.fetch(path, { json: { model: `${native}/${model}`, ...body }, headers })
          const words = await reply.text()
          const wasSent = upstream.requests.length > before
          const isOwn = call.isOwn === true && isPassedOn(native, model, call)
          const isServed = reply.status === 200 && words.includes(ANSWER.city)
          const isRefused = reply.status === 400 && (isOwn || (!wasSent && call.mayRefuse !== false))
          const sent = wasSent ? JSON.stringify(upstream.requests.at(-1)!.json()).slice(0, 1500) : ''
          if (!isServed && !isRefused) faults.push(`${model}: ${reply.status} ${words} ${refusals.at(-1) ?? ''} ${sent}`)
          if (refusals.length > 0 && !isOwn) faults.push(`${model} has refused: ${refusals.join('; ')}`)
        }
        expect(faults).to.deep.equal([])
      })

  const named = (name: string): ClientCall => CALLS.find((call) => call.name.endsWith(name))!

  async function send(model: string, { path, body, headers = {} }: ClientCall): Promise<Asked> {
    const reply = await gateway.fetch(path, { json: { model, ...body }, headers })
    expect(reply.status, await reply.text()).to.equal(200)
    return { body: upstream.requests.at(-1)!.json() as Asked['body'], dropped: reply.headers.get('x-umg-params-dropped') }
  }

  it("of Claude Code's request, clouds get what they take, and the rest is named", async () => {
    const code = named("Claude Code's request without thinking")
    const onBedrock = await send('bedrock/us.anthropic.claude-opus-5-5', code)
    expect(onBedrock.dropped).to.include('anthropic-beta.prompt-caching-scope-2026-01-05').and.to.include('cache_control.scope')
    expect(onBedrock.body.anthropic_beta).to.deep.equal([
      'context-management-2025-06-27',
      'effort-2025-11-24',
      'fine-grained-tool-streaming-2025-05-14',
    ])
    const onVertex = await send('vertex/claude-opus-5-5', code)
    expect(onVertex.dropped).to.include('anthropic-beta.effort-2025-11-24').and.to.include('cache_control.scope')
    for (const { body } of [onBedrock, onVertex]) {
      expect(body.system![1]!.cache_control).to.deep.equal({ type: 'ephemeral' })
      expect(body.context_management).to.deep.equal(code.body.context_management)
    }
    const direct = await send('anthropic/claude-opus-5-5', code)
    expect([direct.dropped, direct.body.system![1]!.cache_control]).to.deep.equal([null, { type: 'ephemeral', scope: 'global' }])
  })

  it('a mark of the whole becomes one of the last block on clouds, which set none by themselves', async () => {
    const marked = { type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }
    for (const model of ['vertex/claude-opus-5-5', 'bedrock/us.anthropic.claude-opus-5-5']) {
      const { body, dropped } = await send(model, {
        ...named('messages, a text'),
        body: { max_tokens: 9, cache_control: { type: 'ephemeral' }, messages: [{ role: 'user', content: 'Hi.' }] },
      })
      expect([body.messages, dropped], model).to.deep.equal([[{ role: 'user', content: [marked] }], null])
    }
    const { body } = await send('vertex/claude-opus-5-5', named('chat, a mark of the whole'))
    expect(body.messages).to.deep.equal([{ role: 'user', content: [marked] }])
  })

  it('a message of the assistant at the end is continued by models that do so, and others are asked to continue', async () => {
    const call = named('chat, an assistant that speaks last, with white space')
    const lastOf = async (model: string) => JSON.stringify(((await send(model, call)).body.messages ?? []).at(-1))
    for (const model of ['anthropic/claude-haiku-4-5', 'converse/us.anthropic.claude-sonnet-4-5-20250929-v1:0'])
      expect(await lastOf(model), model).to.include('The answer is:')
    for (const model of ['anthropic/claude-opus-4-6', 'vertex/claude-opus-5-5', 'bedrock/us.meta.llama3-3-70b-instruct-v1:0'])
      expect(await lastOf(model), model).to.include('Continue.')
  })

  it('pictures of an answer are left out and named for models that take none back', async () => {
    const call = named('a picture of the assistant')
    for (const model of [
      'anthropic/claude-opus-5-5',
      'converse/us.anthropic.claude-opus-5-5',
      'cohere/command-r-08-2024',
      'ollama/gpt-oss',
    ]) {
      const { body, dropped } = await send(model, call)
      expect([JSON.stringify(body).includes('Look.'), dropped], model).to.deep.equal([true, 'messages.images'])
    }
    expect((await send('gemini/gemini-2.5-pro', call)).dropped).to.equal(null)
  })
})

/** A request as an upstream got it, and what the client is told. */
interface Asked {
  readonly body: Readonly<Record<string, unknown>> & {
    readonly system?: readonly { readonly cache_control?: unknown }[]
    readonly messages?: readonly unknown[]
    readonly anthropic_beta?: readonly string[]
  }
  readonly dropped: string | null
}
