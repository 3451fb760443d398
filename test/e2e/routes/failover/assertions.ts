import { expect } from 'chai'
import { FIN, json, type Script, type ScriptedUpstream, type Step, sse } from '../../../../core/testing/kit.ts'
import type { RawReply } from '../../../support/raw-http.ts'
import { ask, type Dialect } from '../../sdk/dialect.ts'
import { DIALECTS } from '../../sdk/fixture.ts'
import { openai, USAGE_EVENT } from '../../sdk/openai-dialect.ts'
import { type Fault, PROVIDERS, post } from '../../upstream-faults/assertions.ts'
import { readCounters, risen } from '../../upstream-faults/counters.ts'
import { curated, type FailoverFixture, otherThan, targetsOf } from './fixture.ts'

/** A call to a curated model. `dialect`: the first target's; the second uses the other one. */
export interface Way {
  readonly dialect: Dialect
  readonly stream: boolean
  readonly name: string
}

/** Both orders of the dialects, whole and streamed. */
export const EVERY_WAY: readonly Way[] = DIALECTS.flatMap((dialect) =>
  [false, true].map((stream) => ({
    dialect,
    stream,
    name: `${dialect.name} first, ${otherThan(dialect).name} second, ${stream ? 'streamed' : 'whole'}`,
  })),
)

const SAID = { text: ['Grüß', ' dich 🌍'] }

/** The text of a clean reply. */
export const TEXT = SAID.text.join('')

/** A clean reply in a dialect. */
export const cleanReply = (dialect: Dialect, stream: boolean): Step[] =>
  stream ? sse(dialect.events(SAID)) : json(dialect.whole(SAID))

/** Closes the connection after a script, so that calls share none. */
async function* closing(script: Script): AsyncGenerator<Step> {
  yield* script
  yield FIN
}

/** Expects a call whose first target fails to be served by the second: the client gets the clean reply only. */
export async function expectServedBySecond(
  fixture: FailoverFixture,
  way: Way,
  fault: Fault & { readonly number?: number },
): Promise<void> {
  const { gateway } = fixture
  const { dialect, stream } = way
  const namespace = curated(dialect, fault.number)
  const hits = scripted(fixture, way, fault)
  const before = readCounters(await gateway.metrics())
  const reply = await post(fixture, { dialect, stream, namespace })
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

/** The reply's text as the official SDK reads it. */
export async function sdkText({ gateway }: FailoverFixture, { dialect, stream }: Way, number?: number): Promise<string> {
  const request = ask(dialect, { model: `${curated(dialect, number)}/${dialect.model}` })
  const { completions } = gateway.openai().chat
  if (!stream) return (await completions.create(request)).choices[0]!.message.content!
  let text = ''
  for await (const { choices } of await completions.create({ ...request, stream })) text += choices[0]?.delta.content ?? ''
  return text
}

/**
 * Makes the first target fail and the second reply. Returns a function that expects one request to each, all closed.
 */
function scripted(
  { first, second }: FailoverFixture,
  { dialect, stream }: Way,
  fault: Pick<Fault, 'script'>,
): () => Promise<void> {
  first.on(() => closing(fault.script(dialect)))
  second.on(() => closing(cleanReply(otherThan(dialect), stream)))
  const asked = hitsSince(first, second)
  return async () => {
    await Promise.all([...first.requests, ...second.requests].map(({ closed }) => closed))
    expect(asked(), 'requests to the first and to the second').to.deep.equal([1, 1])
  }
}

/** Counts the requests to each upstream from now on. */
export function hitsSince(...upstreams: readonly ScriptedUpstream[]): () => number[] {
  const before = upstreams.map(({ requests }) => requests.length)
  return () => upstreams.map(({ requests }, index) => requests.length - before[index]!)
}

/** Expects the second target's reply as if there were no first; byte for byte if it is passed through. */
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

/** OpenAI's clean reply as the client receives it. */
const wireText = (stream: boolean): string =>
  stream
    ? openai
        .events(SAID)
        .filter((event) => event !== USAGE_EVENT)
        .join('')
    : JSON.stringify(openai.whole(SAID))

/** The content of a translated reply. A stream must have events only, and one end marker. */
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
