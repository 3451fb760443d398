import assert from 'node:assert/strict'
import { LARGE } from '../../../protocol/json-body.ts'
import { NAMESPACE, type Suite } from '../harness.ts'
import { type EmbeddingsFixture, isAbsent } from '../provider-under-test.ts'
import { requestOf } from '../requests.ts'
import { wholeScript } from '../scripts.ts'

/** One character more than a request that may be parsed on the event loop. */
const TEXT = 'Large. '.repeat(LARGE.bytes / 7 + 1)

/** Cases for large requests: parsing and translating them on the event loop would block all other calls. */
export function describeLargeRequests(suite: Suite): void {
  const { embeddings } = suite.subject

  it('translates a large request in a worker thread, by host.compute', async () => {
    const { harness, subject } = suite
    const { text } = subject.scenarios
    harness.answer(wholeScript(text))
    await expectSent(suite, '/v1/chat/completions', {
      ...requestOf(subject.model, 'text', text),
      messages: [{ role: 'user', content: TEXT }],
    })
  })

  if (embeddings === undefined || isAbsent(embeddings)) return
  it('translates a large embeddings request in a worker thread, by host.compute', async () => {
    await expectSent(suite, '/v1/embeddings', embeddingsRequest(suite, embeddings))
  })
}

function embeddingsRequest({ subject, harness }: Suite, { asked, whole, headers }: EmbeddingsFixture): object {
  if (whole !== undefined) harness.answer(wholeScript({ whole, says: {} }, { ...(headers && { headers }) }))
  return { ...asked, model: `${NAMESPACE}/${asked?.model ?? subject.model}`, input: TEXT }
}

/** Expects the text in the upstream's request, and that nothing as long was parsed in this thread, which is the gateway's. */
async function expectSent({ harness }: Suite, path: string, body: object): Promise<void> {
  const { maxBody = Number.POSITIVE_INFINITY } = harness.provider
  const { parse } = JSON
  let longest = 0
  JSON.parse = (text, reviver) => {
    longest = Math.max(longest, text.length)
    return parse(text, reviver)
  }
  const before = harness.received.length
  try {
    const { status } = await harness.post(body, { path })
    if (maxBody <= LARGE.bytes) {
      assert.equal(status, 413, 'a request beyond maxBody is refused')
      return
    }
  } finally {
    JSON.parse = parse
  }
  assert.equal(harness.received.length, before + 1, 'the upstream got the request')
  assert.ok(harness.received.at(-1)!.body.includes(TEXT), 'the upstream request contains the text')
  assert.ok(longest < LARGE.bytes, 'the request is not parsed on the event loop')
}
