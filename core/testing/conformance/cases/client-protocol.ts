import assert from 'node:assert/strict'
import type { Said } from '../../upstream/openai-reply.ts'
import type { Suite } from '../harness.ts'
import { type Absent, isAbsent, present, type ReplyFixture, type Scenarios } from '../provider-under-test.ts'
import { haveImage } from '../requests.ts'
import { streamBody, streamScript, wholeScript } from '../scripts.ts'

/** A protocol that clients speak in addition to chat completions, as its cases need it. `Reply`: as a client reads it. */
export interface ClientUnderTest<Body extends object, Reply> {
  readonly path: string
  /** The scenario's request. */
  body(suite: Suite, name: keyof Scenarios, fixture: ReplyFixture): Body
  whole(text: string): Reply
  /** Throws an `AssertionError` for a stream that breaks the rules of the protocol. */
  stream(text: string): Reply
  expect(reply: Reply, says: Said): void
  /** Absent: the upstream speaks as the provider's fixtures do. */
  readonly upstream?: NativeUpstream
  /** The request after a reply with calls of tools, and the results in it. */
  next(body: Body, reply: Reply): { readonly body: object; readonly results: readonly string[] }
}

/** An upstream that speaks the protocol of the client. */
export interface NativeUpstream {
  reply(says: Said): Pick<ReplyFixture, 'whole' | 'stream'>
  readonly reasoningBeforeTools: Exclude<Scenarios['reasoningBeforeTools'], Absent>
}

/** Cases for clients of a protocol: each scenario, whole and streamed, and the turn after a tool call. */
export function describeClient<Body extends object, Reply>(suite: Suite, client: ClientUnderTest<Body, Reply>): void {
  const { subject } = suite
  const { reasoningBeforeTools } = client.upstream ?? subject.scenarios
  for (const stream of [false, true]) {
    const streamed = stream ? ', streamed' : ''
    for (const [name, fixture] of present(subject)) {
      it(`${name}${streamed}`, async () => {
        const before = suite.harness.received.length
        client.expect(await ask(suite, client, { fixture, body: client.body(suite, name, fixture), stream }), fixture.says)
        if (name === 'image' && !subject.local) assert.ok(haveImage(suite.harness.received.slice(before)))
      })
    }
    if (isAbsent(reasoningBeforeTools) || subject.local) continue
    const { returns } = reasoningBeforeTools
    it(`what the upstream wants back with the result of a tool${streamed}`, async () => {
      const next = await secondTurn(suite, client, { fixture: reasoningBeforeTools, stream })
      assert.ok(next.includes(returns), `the next request contains ${returns}: ${next}`)
    })
  }
}

/** What is asked in a case. */
interface Asked {
  readonly fixture: ReplyFixture
  readonly stream: boolean
}

async function ask<Body extends object, Reply>(
  { subject, harness }: Suite,
  client: ClientUnderTest<Body, Reply>,
  { fixture, body, stream }: Asked & { readonly body: Body },
): Promise<Reply> {
  const { path } = client
  const reply = replyOf(client, fixture)
  if (!subject.local) harness.answer(stream ? streamScript(subject, streamBody(reply)) : wholeScript(reply))
  const got = await harness.post(stream ? { ...body, stream } : body, { path })
  const text = await got.text()
  assert.equal(got.status, 200, text)
  return stream ? client.stream(text) : client.whole(text)
}

/** What the upstream replies. */
const replyOf = <Body extends object, Reply>({ upstream }: ClientUnderTest<Body, Reply>, fixture: ReplyFixture): ReplyFixture =>
  upstream === undefined ? fixture : { ...fixture, ...upstream.reply(fixture.says) }

/** Sends the reply back unchanged, with the results of its tools. Resolves to the body of the upstream request. */
async function secondTurn<Body extends object, Reply>(
  suite: Suite,
  client: ClientUnderTest<Body, Reply>,
  asked: Asked,
): Promise<string> {
  const { subject, harness } = suite
  const body = client.body(suite, 'reasoningBeforeTools', asked.fixture)
  const { body: more, results } = client.next(body, await ask(suite, client, { ...asked, body }))
  harness.answer(wholeScript(replyOf(client, subject.scenarios.text)))
  const answer = await harness.post(more, { path: client.path })
  assert.equal(answer.status, 200, await answer.text())
  const sent = harness.received.at(-1)!.body.toString()
  for (const result of results) assert.ok(sent.includes(result), `${result} is sent: ${sent}`)
  return sent
}
