import { expect } from 'chai'
import { FIN, json, type Script, type ScriptedUpstream, type Step, sse } from '../../../../core/testing/kit.ts'
import type { RawReply } from '../../../support/raw-http.ts'
import { ask, type Dialect } from '../../sdk/dialect.ts'
import { openai, USAGE_EVENT } from '../../sdk/openai-dialect.ts'
import { DIALECTS } from '../../sdk/stage.ts'
import { readCounters, risen } from '../../upstream-faults/counters.ts'
import { type Fault, PROVIDERS, post } from '../../upstream-faults/witness.ts'
import { curated, otherThan, type Pair, targetsOf } from './pair.ts'

/** A call to a curated model. `dialect`: that of its first target; the second speaks the other one. */
export interface Way {
  readonly dialect: Dialect
  readonly stream: boolean
  readonly name: string
}

/** The two mixed in both orders, whole and streamed. */
export const EVERY_WAY: readonly Way[] = DIALECTS.flatMap((dialect) =>
  [false, true].map((stream) => ({
    dialect,
    stream,
    name: `${dialect.name} first, ${otherThan(dialect).name} second, ${stream ? 'streamed' : 'whole'}`,
  })),
)

const SAID = { text: ['Grüß', ' dich 🌍'] }

/** What a clean reply says. */
export const TEXT = SAID.text.join('')

/** A clean reply in a dialect. */
export const cleanReply = (dialect: Dialect, stream: boolean): Step[] =>
  stream ? sse(dialect.events(SAID)) : json(dialect.whole(SAID))

/** The same, and then an end of the connection: the next call finds none on which this one left something. */
async function* closing(script: Script): AsyncGenerator<Step> {
  yield* script
  yield FIN
}

/** A fault of the first target, by which the call goes on to the second: its clean reply is all that the client has of it. */
export async function expectServedBySecond(pair: Pair, way: Way, fault: Fault & { readonly number?: number }): Promise<void> {
  const { gateway } = pair
  const { dialect, stream } = way
  const namespace = curated(dialect, fault.number)
  const hits = scripted(pair, way, fault)
  const before = readCounters(await gateway.metrics())
  const reply = await post(pair, { dialect, stream, namespace })
  const text = await reply.text()
  expectClean(reply, text, way, fault.number)
  await gateway.logged(({ id }) => id === reply.headers['x-request-id'])
  await hits()
  const { first, second } = targetsOf(dialect, fault.number)
  expect(risen(before, readCounters(await gateway.metrics()))).to.deep.equal({
    [`attempt ${PROVIDERS[dialect.namespace]} ${fault.failure.result}`]: 1,
    [`attempt ${PROVIDERS[otherThan(dialect).namespace]} ok`]: 1,
    [`fallback ${first} ${second} ${fault.failure.result}`]: 1,
    [`call ${namespace} 200 ok`]: 1,
  })
}

/** The text that the official SDK makes of the reply. */
export async function sdkText({ gateway }: Pair, { dialect, stream }: Way, number?: number): Promise<string> {
  const request = ask(dialect, { model: `${curated(dialect, number)}/${dialect.model}` })
  const { completions } = gateway.openai().chat
  if (!stream) return (await completions.create(request)).choices[0]!.message.content!
  let text = ''
  for await (const { choices } of await completions.create({ ...request, stream })) text += choices[0]?.delta.content ?? ''
  return text
}

/**
 * Has the first target fail and the second serve. The function expects that each was asked once, once all that was asked is closed.
 */
function scripted({ first, second }: Pair, { dialect, stream }: Way, fault: Pick<Fault, 'script'>): () => Promise<void> {
  first.on(() => closing(fault.script(dialect)))
  second.on(() => closing(cleanReply(otherThan(dialect), stream)))
  const asked = hitsSince(first, second)
  return async () => {
    await Promise.all([...first.requests, ...second.requests].map(({ closed }) => closed))
    expect(asked(), 'requests to the first and to the second').to.deep.equal([1, 1])
  }
}

/** How often each upstream is asked from now on. */
export function hitsSince(...upstreams: readonly ScriptedUpstream[]): () => number[] {
  const before = upstreams.map(({ requests }) => requests.length)
  return () => upstreams.map(({ requests }, index) => requests.length - before[index]!)
}

/** The second target's reply, as clean as if it had been the only one: byte for byte what it sent where it is passed through. */
function expectClean(reply: RawReply, text: string, { dialect, stream }: Way, number?: number): void {
  const second = otherThan(dialect)
  expect(reply.status, text).to.equal(200)
  expect(reply.complete).to.equal(true)
  const { 'x-umg-namespace': namespace, 'x-umg-model': model, 'x-umg-attempts': attempts } = reply.headers
  expect([`${namespace}/${model}`, attempts]).to.deep.equal([targetsOf(dialect, number).second, '2'])
  const asked = `${curated(dialect, number)}/${dialect.model}`
  if (second === openai) expect(text).to.equal(wireText(stream))
  else expect(translatedText(text, stream)).to.deep.equal({ text: TEXT, finish: 'stop', model: asked })
}

/** What a client gets of OpenAI's clean reply. */
const wireText = (stream: boolean): string =>
  stream
    ? openai
        .events(SAID)
        .filter((event) => event !== USAGE_EVENT)
        .join('')
    : JSON.stringify(openai.whole(SAID))

/** What a translated reply says. A stream has nothing but events, and its end marker once. */
function translatedText(body: string, stream: boolean): { text: string; finish: string | null; model: string } {
  if (!stream) {
    const { choices, model } = JSON.parse(body)
    return { text: choices[0].message.content, finish: choices[0].finish_reason, model }
  }
  const frames = body.split('\n\n')
  expect(frames.splice(-2)).to.deep.equal(['data: [DONE]', ''])
  const chunks = frames.map((frame) => JSON.parse(frame.slice('data: '.length)))
  const text = chunks.map(({ choices: [choice] }) => choice.delta.content ?? '').join('')
  return { text, finish: chunks.at(-1).choices[0].finish_reason, model: chunks[0].model }
}
