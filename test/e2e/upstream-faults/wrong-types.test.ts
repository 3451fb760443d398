import { expect } from 'chai'
import { json, openaiReply, reply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { isStreamed, onGoogleCloud } from '../clients/fixture.ts'
import { VENDORS, type Vendor } from '../clients/vendors.ts'
import { CHAT, type Heard, hear, MESSAGES, RESPONSES, type Refused, type Way } from './heard-reply.ts'
import { type Mutant, mutantsOf, streamMutantsOf } from './mutants.ts'

const SPARE = 'From the spare.'
const GOOD = { text: 'The answer', reasoning: 'Hm', tools: [{ name: 'look', arguments: { a: 1 } }] }

/** A reader of replies: a vendor's format, in a protocol of clients. */
interface Reader {
  readonly vendor: Vendor
  readonly way: Way
  readonly path: string
  /** The types of members that are read although OpenAI's servers do not write them. */
  readonly knows?: Readonly<Record<string, string>>
  /** Its stream is read as that of another. */
  readonly wholeOnly?: true
  /** The client gets the upstream's bytes. Of their members these are checked, in a whole reply or an event; the rest is between the two. */
  readonly checked?: RegExp
}

const reader = (name: string, way: Way, path = ''): Reader => ({ vendor: VENDORS.find((one) => one.name === name)!, way, path })

/** What is checked of a message that is passed on. */
const MESSAGE = /^(?:type|message|content|stop_reason|delta\.stop_reason)?$/

/** Native formats are read alike for clients of each protocol. */
const READERS: readonly Reader[] = [
  ...['anthropic', 'gemini', 'gemini-by-interactions', 'bedrock', 'cohere', 'ollama'].map((name) => reader(name, CHAT)),
  ...['vertex-gemini', 'vertex-claude'].map((name) => ({ ...reader(name, CHAT), wholeOnly: true as const })),
  ...[MESSAGES, RESPONSES].map((way) => ({
    ...reader('openai-compatible', way),
    knows: { arguments: 'object', content: 'list', id: 'number' },
  })),
  reader('openai-by-responses', CHAT, '/responses'),
  ...['anthropic', 'vertex-claude'].map((name) => ({ ...reader(name, MESSAGES), checked: MESSAGE })),
  { ...reader('bedrock', MESSAGES, '/invoke'), checked: MESSAGE },
  ...['openai', 'azure-openai'].map((name) => ({
    ...reader(name, RESPONSES, '/responses'),
    checked: /^(?:response|object|output|status)$/,
  })),
]

/** A reply whose arguments are not JSON. */
const NO_JSON = Symbol('arguments that are no JSON')

/** How clients name a fault of the upstream: a status, or the code of an error in a stream. */
const UPSTREAM_FAULT = /^(?:502|upstream_\w+|api_error)$/

/** What is wrong with what a client hears of a mutant; undefined if nothing is. */
function problemOf(heard: Heard | Refused | typeof NO_JSON, { isWrong, member, path }: Mutant<unknown>): string | undefined {
  if (heard === NO_JSON) return isWrong ? 'arguments that are no JSON' : undefined
  if ('refused' in heard) return UPSTREAM_FAULT.test(heard.refused) ? undefined : heard.refused
  const { text, tools, isComplete } = heard
  if (text === SPARE) return undefined
  if (isComplete && text === '' && tools.length === 0) return 'an empty success'
  if (isFinish(member)) return isComplete && isWrong ? 'complete' : undefined
  const wrong = tools.filter(({ name, input }) => name !== 'look' || !isInput(input, path, isWrong))
  if (wrong.length > 0 && !(member === 'name' && !isWrong)) return JSON.stringify(wrong)
  if (!isWrong) return undefined
  if (text !== GOOD.text) return `text '${text}'`
  return tools.length === 1 ? undefined : `${tools.length} tools`
}

/** The same, of a reply that is passed on byte for byte. */
function problemOfPassed(heard: Heard | Refused | Error, isChecked: boolean): string | undefined {
  if (heard instanceof Error) return isChecked ? `crash ${heard.message.split('\n')[0]}` : undefined
  if ('refused' in heard) return UPSTREAM_FAULT.test(heard.refused) ? undefined : heard.refused
  const { text, tools, isComplete } = heard
  return isComplete && isChecked && text === '' && tools.length === 0 ? 'an empty success' : undefined
}

const isFinish = (member: string) => /finish|stop_?reason|done/i.test(member)

/** Arguments are the model's own: any object is right, and none at all if there is no value. */
function isInput(input: unknown, path: string, isWrong: boolean): boolean {
  if (JSON.stringify(input) === '{"a":1}') return true
  const isInside = /(?:args|input|arguments)\.a$/.test(path)
  return isInside || (!isWrong && typeof input === 'object')
}

describe('A reply with a member of a wrong type is read right, or another target answers', () => {
  let gateway: TestGateway
  let spare: ScriptedUpstream
  const upstreams = new Map<string, ScriptedUpstream>()
  const opened = new AsyncDisposableStack()

  before(async () => {
    const start = async () => opened.adopt(await scriptedUpstream(), (upstream) => upstream.close())
    opened.defer(onGoogleCloud(await start()))
    spare = await start()
    spare.on((request) => {
      const { whole, stream } = openaiReply({ text: SPARE })
      return isStreamed(request) ? sse(stream) : json(whole)
    })
    const namespaces: Record<string, object> = {
      spare: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${spare.origin}/v1` } },
    }
    const models: Record<string, object> = {}
    for (const { vendor } of READERS) {
      const upstream = upstreams.get(vendor.name) ?? (await start())
      upstreams.set(vendor.name, upstream)
      namespaces[vendor.name] = { provider: vendor.provider, breaker: false, config: vendor.config(upstream.origin) }
      models[vendor.name] = { targets: [{ model: `${vendor.name}/${vendor.model}` }], fallbacks: ['spare/m'] }
    }
    const routes = { chain: [{ plugin: 'auth' }], namespaces: { ...namespaces, acme: { models } } }
    gateway = await startTestGateway({ env: { KEY: 'sk-of-the-upstream' }, routes })
    opened.defer(() => gateway.stop())
  })
  after(() => opened.disposeAsync())

  for (const { vendor, way, path, knows = {}, wholeOnly, checked } of READERS) {
    for (const stream of wholeOnly ? [false] : [false, true]) {
      it(`${vendor.name} by ${way.name}${stream ? ', streamed' : ''}`, async () => {
        const upstream = upstreams.get(vendor.name)!
        const headers = { 'content-type': vendor.streamType ?? 'text/event-stream' }
        const good = vendor.reply(GOOD, path)
        const ask = async (body: unknown) => {
          upstream.on(() => (stream ? reply(body as readonly string[], { framing: 'chunked', headers }) : json(body as object)))
          try {
            return await hear(gateway, way, { model: `acme/${vendor.name}`, stream })
          } catch (error) {
            // What a model writes as arguments is its own: no JSON, if a word of it is another.
            if (checked !== undefined) return error as Error
            if (error instanceof SyntaxError) return NO_JSON
            throw error
          }
        }
        expect(await ask(stream ? good.stream : good.whole), 'the good reply').to.include({ text: GOOD.text, isComplete: true })
        const problems: string[] = []
        for (const mutant of stream ? streamMutantsOf(good.stream) : mutantsOf(good.whole)) {
          const isWrong = mutant.isWrong && knows[mutant.member] !== mutant.kind
          const heard = await ask(mutant.value)
          const problem =
            checked === undefined
              ? problemOf(heard as Heard | Refused | typeof NO_JSON, { ...mutant, isWrong })
              : problemOfPassed(heard as Heard | Refused | Error, checked.test(mutant.path) && (isWrong || mutant.isMissing))
          if (problem !== undefined) problems.push(`${mutant.name} → ${problem}`)
        }
        expect(problems.join('\n')).to.equal('')
      }).timeout(60_000)
    }
  }
})
