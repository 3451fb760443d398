import assert from 'node:assert/strict'
import { readText } from '../../gateway/read-text.ts'
import { ENCRYPTED, responsesReply } from '../../upstream/responses-reply.ts'
import { FIN } from '../../upstream/script.ts'
import { NAMESPACE, type Suite } from '../harness.ts'
import { isAbsent } from '../provider-under-test.ts'
import { readResponseStream } from '../read-responses.ts'
import { errorScript, streamScript, wholeScript } from '../scripts.ts'
import type { NativeUpstream } from './client-protocol.ts'

const THOUGHT = { reasoning: 'The weather?', tools: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] } as const

/** An upstream that has the Responses API. */
export const RESPONSES_UPSTREAM: NativeUpstream = {
  reply: responsesReply,
  reasoningBeforeTools: { says: THOUGHT, returns: ENCRYPTED },
}

const PATH = '/v1/responses'
const SAYS = { text: 'Hello wörld' }

/** Cases for a provider that passes the Responses API on to its upstream. */
export function describePassedResponses(suite: Suite): void {
  const { subject } = suite
  const asked = { model: `${NAMESPACE}/${subject.model}`, input: 'Hello', store: false }
  const own = (member: string, value: string) => `${JSON.stringify(member)}:${JSON.stringify(value)}`

  it("the upstream's own bytes, for the client's own bytes with the model's upstream name", async () => {
    const { harness } = suite
    const { whole, stream } = responsesReply(SAYS)
    for (const isStream of [false, true]) {
      harness.answer(isStream ? streamScript(subject, stream) : wholeScript({ whole, says: SAYS }))
      const body = { ...asked, x_unknown: 0.5, stream: isStream }
      const text = await (await harness.post(body, { path: PATH })).text()
      assert.equal(text, isStream ? stream.join('') : JSON.stringify(whole))
      const sent = harness.received.at(-1)!
      assert.equal(sent.body.toString(), JSON.stringify(body).replace(own('model', asked.model), own('model', subject.model)))
      assert.match(sent.path, /\/responses(?:\?|$)/)
    }
  })

  it('a kept response, which the next request goes on from by its id', async () => {
    const { harness } = suite
    const { whole } = responsesReply(SAYS)
    harness.answer(wholeScript({ whole, says: SAYS }))
    const first = await harness.post({ ...asked, store: true }, { path: PATH })
    const { id } = (await first.json()) as { readonly id: string }
    assert.ok(id.startsWith(`${whole.id}.`), `the id of a kept response has a seal: ${id}`)
    const second = await harness.post({ ...asked, previous_response_id: id }, { path: PATH })
    assert.equal(second.status, 200, await second.text())
    assert.ok(harness.received.at(-1)!.body.includes(own('previous_response_id', whole.id)))
  })

  it('an error of the Responses API instead of the rest of a stream that breaks off', async () => {
    const { harness } = suite
    const { stream } = responsesReply(SAYS)
    const begun = stream.findIndex((event) => event.includes('output_text.delta')) + 1
    for (let count = begun; count < stream.length; count++) {
      harness.answer(streamScript(subject, [...stream.slice(0, count), FIN]))
      const reply = await harness.post({ ...asked, stream: true }, { path: PATH })
      const text = await readText(reply)
      assert.equal(readResponseStream(text).error?.code, 'upstream_disconnected', `after ${count} events: ${text}`)
    }
  })

  it("the upstream's limit of the rate as a 429", async () => {
    const { harness } = suite
    const { rateLimit } = subject.errors
    if (isAbsent(rateLimit)) return
    harness.answer(errorScript(rateLimit))
    const reply = await harness.post(asked, { path: PATH })
    const { error } = (await reply.json()) as { readonly error: { readonly code: string } }
    assert.deepEqual([reply.status, error.code], [429, 'rate_limit_exceeded'])
  })
}
