import assert from 'node:assert/strict'
import { bodyOf, ENDPOINT_REQUESTS, pathOf, streamed } from '../../gateway/endpoint-requests.ts'
import { readText } from '../../gateway/read-text.ts'
import { ENDPOINT_REPLIES } from '../../upstream/endpoint-replies.ts'
import { FIN } from '../../upstream/script.ts'
import { type FixedEndpoint, modelOf } from '../endpoint-fixtures.ts'
import { NAMESPACE, type Suite } from '../harness.ts'
import { streamScript } from '../scripts.ts'

/** Cases for the streamed replies of an endpoint, if its upstream's are passed on. */
export function describeEndpointStream(suite: Suite, name: FixedEndpoint): void {
  const { events } = ENDPOINT_REPLIES[name]
  if (events === undefined || suite.subject.local) return
  it(`${name}, streamed`, async () => {
    const handler = suite.harness.provider.endpoints?.[name]
    const model = modelOf(suite.subject, name)
    const isServed = handler !== undefined && handler.serves?.(model) !== false
    if (!isServed || handler.reply !== undefined) await expectRefusal(suite, name)
    else await expectStreams(suite, name, events)
  })
}

/** A translated endpoint does not stream: it names the parameter. */
async function expectRefusal(suite: Suite, name: FixedEndpoint): Promise<void> {
  const before = suite.harness.received.length
  const got = await ask(suite, name)
  const { error } = (await got.json()) as { readonly error: { readonly code: string; readonly param: string } }
  assert.equal(got.status, 400)
  assert.ok(['unsupported_endpoint model', 'unsupported_parameter stream'].includes(`${error.code} ${error.param}`), error.code)
  assert.equal(suite.harness.received.length, before, 'nothing is sent')
}

/** The events reach the client as they are, and a stream that breaks off ends with an error. */
async function expectStreams(suite: Suite, name: FixedEndpoint, events: readonly string[]): Promise<void> {
  const { harness, subject } = suite
  harness.answer(streamScript(subject, events))
  assert.equal(await readText(await ask(suite, name)), events.join(''))
  for (let count = 1; count < events.length; count++) {
    const begun = events.slice(0, count)
    // A stream of text is complete with its last choice.
    if (begun.join('').includes('"stop"')) continue
    harness.answer(streamScript(subject, [...begun, FIN]))
    const text = await readText(await ask(suite, name))
    assert.ok(text.startsWith(begun.join('')), text)
    assert.match(text.slice(begun.join('').length), /^data: \{"error":\{.*"code":"upstream_disconnected"\}\}\n\n$/)
  }
}

function ask({ harness, subject }: Suite, name: FixedEndpoint): Promise<Response> {
  const asked = { ...ENDPOINT_REQUESTS[name], ...streamed(name), model: `${NAMESPACE}/${modelOf(subject, name)}` }
  return harness.post(bodyOf(asked), { path: pathOf(name) })
}
