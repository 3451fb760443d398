import { expect } from 'chai'
import { type Bytes, json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { onGoogleCloud } from '../clients/fixture.ts'
import { VENDORS } from '../clients/vendors.ts'

/** A reply of an upstream, whole and as its stream. */
export interface Reply {
  readonly whole: object
  readonly stream: readonly Bytes[]
}

/** The least of a request, by its endpoint. */
export const LEAST = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/messages': { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/responses': { store: false, input: 'Hi' },
} as const

/** An endpoint that each vendor serves. */
export type Path = keyof typeof LEAST

/** The members of a request that differ from its least. */
export interface Members {
  readonly stream?: boolean
  readonly [member: string]: unknown
}

/** A gateway before all vendors. */
export interface Vendors {
  /** Sends a call to a vendor, and expects an answer. `reply`: to a request for a path. Default: "Hi". */
  ask(vendor: string, path: Path, members: Members, reply?: (path: string) => Reply): Promise<void>
  /** The same with a form of pictures to edit. */
  edit(form: FormData, reply: object): Promise<void>
  /** The same with the text of a request. */
  send(path: Path, body: string): Promise<void>
  stop(): Promise<void>
}

/** Starts the gateway, and one upstream that speaks for all vendors. */
export async function startVendors(): Promise<Vendors> {
  await using opened = new AsyncDisposableStack()
  const start = async (): Promise<ScriptedUpstream> => opened.adopt(await scriptedUpstream(), (upstream) => upstream.close())
  opened.defer(onGoogleCloud(await start()))
  const upstream = await start()
  let replyTo: ((path: string) => Reply) | undefined
  let isStream = false
  upstream.on((request) => {
    const vendor = VENDORS.find(({ name }) => request.path.startsWith(`/${name}/`))!
    const { whole, stream } = replyTo?.(request.path) ?? vendor.reply({ text: 'Hi' }, request.path)
    return isStream ? sse([Buffer.concat(stream.map((each) => Buffer.from(each)))], streamOf(vendor)) : json(whole)
  })
  const gateway = await startTestGateway({
    env: { KEY: 'k' },
    routes: {
      chain: [{ plugin: 'auth' }],
      namespaces: Object.fromEntries(
        VENDORS.map(({ name, provider, config }) => [
          name,
          { provider, breaker: false, keptObjects: 'allow', config: config(`${upstream.origin}/${name}`) },
        ]),
      ),
    },
  })
  opened.defer(() => gateway.stop())
  const all = opened.move()
  async function expectAnswer(path: string, init: Parameters<TestGateway['fetch']>[1]): Promise<void> {
    const answer = await gateway.fetch(path, init)
    const text = await answer.text()
    expect([answer.status, answer.ok ? '' : text]).to.deep.equal([200, ''])
    expect(text).not.to.include('"error":{')
  }
  return {
    ask(name, path, members, reply) {
      const { model } = VENDORS.find((each) => each.name === name)!
      replyTo = reply
      isStream = members.stream === true
      return expectAnswer(path, { json: { model: `${name}/${model}`, ...LEAST[path], ...members } })
    },
    edit(form, whole) {
      replyTo = () => ({ whole, stream: [] })
      isStream = false
      return expectAnswer('/v1/images/edits', { method: 'POST', body: form })
    },
    send(path, body) {
      replyTo = undefined
      isStream = false
      return expectAnswer(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    },
    stop: () => all.disposeAsync(),
  }
}

const streamOf = ({ streamType = 'text/event-stream' }: { readonly streamType?: string }) => ({
  headers: { 'content-type': streamType },
})
