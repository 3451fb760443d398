import assert from 'node:assert/strict'
import { reply } from '../../upstream/replies.ts'
import type { Suite } from '../harness.ts'
import { CLIENT_KEY, LINK_HEADER } from '../harness.ts'
import { type ErrorFixture, type Errors, isAbsent } from '../provider-under-test.ts'
import { request, requestOf } from '../requests.ts'
import { errorScript, streamBody, streamScript, wholeScript } from '../scripts.ts'

/** Cases for secrets: the upstream gets nothing of the client's credential, the client nothing of the gateway's. */
export function describePrivacy(suite: Suite): void {
  const { subject } = suite
  const { text } = subject.scenarios
  const asked = requestOf(subject.model, 'text', text)

  it("sends the upstream the headers of chain plugins and none of the client's credentials", async () => {
    const { harness } = suite
    harness.answer(wholeScript(text))
    await (await harness.post(asked, { headers: { cookie: 'session=of-the-client', 'x-stainless-os': 'of-the-client' } })).text()
    const { headers, path } = harness.received.at(-1)!
    assert.partialDeepStrictEqual(headers, LINK_HEADER)
    const sent = JSON.stringify({ headers, path })
    assert.ok(!sent.includes(CLIENT_KEY) && !sent.includes('of-the-client'), sent)
  })

  it('sends its credential in headers only, not in a URL or a body', async () => {
    const { harness } = suite
    for (const stream of [false, true]) {
      harness.answer(stream ? streamScript(subject, streamBody(text)) : wholeScript(text))
      await (await harness.post({ ...asked, stream })).text()
    }
    for (const { path, body } of harness.received) {
      for (const secret of harness.secrets) assert.ok(!contains(`${path}\n${body}`, secret), `${path} contains a secret`)
    }
  })

  it('shows no client its credential or its address, even if the upstream quotes them', async () => {
    const { harness, subject } = suite
    const refusals = (Object.values(subject.errors) as Errors[keyof Errors][]).filter(
      (fixture): fixture is ErrorFixture => !isAbsent(fixture),
    )
    const quoted = harness.secrets.join(' and ')
    for (const script of [
      wholeScript(text),
      ...refusals.map(errorScript),
      reply([`${quoted} are refused at ${harness.upstream.origin}`], { status: 400 }),
      reply([JSON.stringify({ error: { message: `${quoted} are refused at ${harness.upstream.origin}` } })], { status: 400 }),
    ]) {
      harness.answer(script)
      const replied = await harness.post(request(subject.model))
      const seen = JSON.stringify([...replied.headers]) + (await replied.text())
      for (const secret of [...harness.secrets, new URL(harness.upstream.origin).host]) assert.ok(!contains(seen, secret), seen)
    }
  })
}

/** Whether a text contains a secret, plain or URL-encoded. Of a multi-line secret, one line is enough. */
function contains(text: string, secret: string): boolean {
  const lines = secret.split('\n').filter((line) => line.length > 5)
  return lines.some((line) => text.includes(line) || text.includes(encodeURIComponent(line)))
}
