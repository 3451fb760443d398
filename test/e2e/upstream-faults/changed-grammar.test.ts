import { AssertionError } from 'node:assert'
import { expect } from 'chai'
import { readWire } from '../../../core/testing/conformance/expect-reply.ts'
import { json, openaiReply, reply, type Said, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { isStreamed, onGoogleCloud } from '../clients/fixture.ts'
import { VENDORS } from '../clients/vendors.ts'
import { CHAT, type Heard, hear, MESSAGES, RESPONSES, type Refused, type Way } from './heard-reply.ts'
import { type ChangedStream, changedGrammarsOf, renamedMembersOf } from './mutants.ts'

const SPARE = 'From the spare.'
/** An answer without a call, of which a stream may lose all. */
const TEXT = { text: 'The answer' }
const GOOD = { text: 'The answer', reasoning: 'Hm', tools: [{ name: 'look', arguments: { a: 1 } }] }

/** Each way reads a stream by the rules of its protocol. */
const STRICT_CHAT: Way = {
  ...CHAT,
  stream(text) {
    const heard = CHAT.stream(text)
    if (!('refused' in heard)) readWire(text, false)
    return heard
  },
}
const WAYS = [STRICT_CHAT, MESSAGES, RESPONSES]

/**
 * Readers of streams, with the path of their requests, and how many events at the end of a stream make it complete. Those that pass events on as they are
 * have rows of their own below.
 */
const READERS: readonly Reader[] = [
  { name: 'anthropic', ways: [STRICT_CHAT, RESPONSES], path: '', ends: 2 },
  { name: 'gemini', ways: WAYS, path: '', ends: 1 },
  { name: 'gemini-by-interactions', ways: WAYS, path: '', ends: 2 },
  { name: 'vertex-gemini', ways: WAYS, path: '', ends: 1 },
  { name: 'vertex-claude', ways: [STRICT_CHAT, RESPONSES], path: '', ends: 2 },
  { name: 'bedrock', ways: [STRICT_CHAT, RESPONSES], path: '', ends: 2 },
  { name: 'cohere', ways: WAYS, path: '', ends: 1 },
  { name: 'ollama', ways: WAYS, path: '', ends: 1 },
  { name: 'openai-compatible', ways: [MESSAGES, RESPONSES], path: '', ends: 2 },
  { name: 'openai-by-responses', ways: [STRICT_CHAT, MESSAGES], path: '/responses', ends: 1 },
]

/** What these read goes to clients of the same protocol byte for byte. */
const PASSED: readonly Reader[] = [
  { name: 'openai-compatible', ways: [STRICT_CHAT], path: '', ends: 2 },
  { name: 'azure-openai', ways: [STRICT_CHAT], path: '', ends: 2 },
  { name: 'openai', ways: [RESPONSES], path: '/responses', ends: 1 },
  { name: 'anthropic', ways: [MESSAGES], path: '', ends: 2 },
  { name: 'vertex-claude', ways: [MESSAGES], path: '', ends: 2 },
  { name: 'bedrock', ways: [MESSAGES], path: '/invoke', ends: 2 },
]

interface Reader {
  /** A row of `VENDORS`. */
  readonly name: string
  readonly ways: readonly Way[]
  readonly path: string
  readonly ends: number
}

/** Arguments that are no JSON: pieces of them came twice, or in another order. */
const NO_JSON = Symbol('arguments that are no JSON')

/** What is wrong with what a client hears; undefined if nothing is. */
function problemOf(
  heard: Heard | Refused | typeof NO_JSON,
  { name, isGood, isOver, hasEnd }: ChangedStream,
  hasIds: boolean,
): string | undefined {
  if (heard === NO_JSON) return isGood || !hasEnd ? 'arguments that are no JSON' : undefined
  if ('refused' in heard) return /^(?:502|upstream_\w+|api_error)$/.test(heard.refused) && !isGood ? undefined : heard.refused
  const { text, tools, isComplete } = heard
  if (text === SPARE) return isGood ? SPARE : undefined
  if (!isComplete) return 'an end that is neither an error nor a finish'
  if (!hasEnd) return 'a forged finish'
  if (text === '' && tools.length === 0 && !isOver) return 'an empty success'
  if (isGood && (text !== GOOD.text || tools.length !== 1)) return JSON.stringify(heard)
  const isCalled = tools.every(({ name, input }) => name === 'look' && JSON.stringify(input) === '{"a":1}')
  // Two equal calls are two calls, where they have no ids.
  return isCalled && (tools.length <= 1 || (!hasIds && name.endsWith('twice'))) ? undefined : JSON.stringify(tools)
}

/** What is wrong with what a client hears of events that pass: they are the upstream's own, and the end of them must be too. */
function problemOfPassed(heard: Heard | Refused | typeof NO_JSON, { isGood, isOver, hasEnd }: ChangedStream): string | undefined {
  if (heard === NO_JSON) return isGood ? 'arguments that are no JSON' : undefined
  if ('refused' in heard) return isGood ? heard.refused : undefined
  const { text, tools, isComplete } = heard
  if (text === SPARE) return isGood ? SPARE : undefined
  if (!isComplete) return 'an end that is neither an error nor a finish'
  if (!hasEnd) return 'a forged finish'
  if (text === '' && tools.length === 0 && !isOver) return 'an empty success'
  return isGood && (text !== GOOD.text || tools.length !== 1) ? JSON.stringify(heard) : undefined
}

/** SDKs ignore events that they do not know. */
const knownIn = (text: string): string => text.replace(/^event: riddle\ndata: .*\n\n/gm, '')

/** The last event of OpenAI's streams with a usage, which complete an answer no more than its absence does. */
const isUsage = (sent: string | Uint8Array): boolean => typeof sent === 'string' && sent.includes('"choices":[],"usage"')

describe('An upstream that changes the grammar of its events is read right, or fails, and never looks finished', () => {
  let gateway: TestGateway
  const upstreams = new Map<string, ScriptedUpstream>()
  const opened = new AsyncDisposableStack()

  before(async () => {
    const start = async () => opened.adopt(await scriptedUpstream(), (upstream) => upstream.close())
    const spare = await start()
    spare.on((request) => {
      const { whole, stream } = openaiReply({ text: SPARE })
      return isStreamed(request) ? sse(stream) : json(whole)
    })
    const namespaces: Record<string, object> = {
      spare: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${spare.origin}/v1` } },
    }
    const models: Record<string, object> = {}
    opened.defer(onGoogleCloud(await start()))
    for (const name of new Set([...READERS, ...PASSED].map((reader) => reader.name))) {
      const { provider, config, model } = VENDORS.find((one) => one.name === name)!
      const upstream = await start()
      upstreams.set(name, upstream)
      namespaces[name] = { provider, breaker: false, config: config(upstream.origin) }
      models[name] = { targets: [{ model: `${name}/${model}` }], fallbacks: ['spare/m'] }
    }
    const routes = { chain: [{ plugin: 'auth' }], namespaces: { ...namespaces, acme: { models } } }
    gateway = await startTestGateway({ env: { KEY: 'sk-of-the-upstream' }, routes })
    opened.defer(() => gateway.stop())
  })
  after(() => opened.disposeAsync())

  for (const reader of [...READERS, ...PASSED]) {
    const { name, ways, path, ends } = reader
    const isPassed = PASSED.includes(reader)
    for (const way of ways) {
      it(`${name} by ${way.name}${isPassed ? ', passed on' : ''}`, async () => {
        const { streamType = 'text/event-stream', ...vendor } = VENDORS.find((one) => one.name === name)!
        const streamOf = (said: Said) => vendor.reply(said, path).stream.filter((sent) => !isUsage(sent))
        const stream = streamOf(GOOD)
        const ask = async (body: ChangedStream['value']) => {
          upstreams.get(name)!.on(() => reply(body, { framing: 'chunked', headers: { 'content-type': streamType } }))
          const read = isPassed ? { ...way, stream: (text: string) => way.stream(knownIn(text)) } : way
          return await hear(gateway, read, { model: `acme/${name}`, stream: true })
        }
        expect(await ask(stream), 'the good stream').to.include({ text: GOOD.text, isComplete: true })
        const problems: string[] = []
        // Of an answer that passes the client reads the names itself.
        const others = isPassed ? [stream] : [stream, streamOf(TEXT)]
        const changes = [...changedGrammarsOf(stream, ends), ...others.flatMap((sent) => renamedMembersOf(sent, ends))]
        for (const changed of changes) {
          const heard = await ask(changed.value).catch((error: unknown) => {
            if (error instanceof SyntaxError) return NO_JSON
            // A client that cannot read an event.
            if (error instanceof AssertionError || (isPassed && error instanceof TypeError)) return { refused: error.message }
            throw error
          })
          const problem = isPassed ? problemOfPassed(heard, changed) : problemOf(heard, changed, !name.includes('gemini'))
          if (problem !== undefined) problems.push(`${changed.name} → ${problem}`)
        }
        expect(problems.join('\n')).to.equal('')
      }).timeout(120_000)
    }
  }
})
