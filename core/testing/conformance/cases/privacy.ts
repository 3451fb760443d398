import assert from 'node:assert/strict'
import { reply } from '../../replies.ts'
import { CLIENT_KEY, LINK_HEADER } from '../fixture.ts'
import { request, requestOf } from '../requests.ts'
import { type ErrorFixture, type Errors, isAbsent } from '../scenarios.ts'
import { errorScript, streamBody, streamScript, wholeScript } from '../scripts.ts'
import type { Suite } from '../suite.ts'

/** Who gets to see what. */
export function describePrivacy(suite: Suite): void {
  const { subject } = suite
  const { text } = subject.scenarios
  const asked = requestOf(subject.model, 'text', text)

  it('sends its upstream the headers of chain plugins, and nothing by which the client signed in', async () => {
    const { stage } = suite
    stage.answer(wholeScript(text))
    await (await stage.post(asked, { headers: { cookie: 'session=of-the-client', 'x-stainless-os': 'of-the-client' } })).text()
    const { headers, path } = stage.asked.at(-1)!
    assert.partialDeepStrictEqual(headers, LINK_HEADER)
    const sent = JSON.stringify({ headers, path })
    assert.ok(!sent.includes(CLIENT_KEY) && !sent.includes('of-the-client'), sent)
  })

  it('sends its credential in headers: no URL and no body has it', async () => {
    const { stage } = suite
    for (const stream of [false, true]) {
      stage.answer(stream ? streamScript(subject, streamBody(text)) : wholeScript(text))
      await (await stage.post({ ...asked, stream })).text()
    }
    for (const { path, body } of stage.asked) {
      for (const secret of stage.secrets) assert.ok(!holds(`${path}\n${body}`, secret), `${path} has a secret in it`)
    }
  })

  it('shows no client its credential or its address, even where its upstream quotes them', async () => {
    const { stage, subject } = suite
    const refusals = (Object.values(subject.errors) as Errors[keyof Errors][]).filter(
      (fixture): fixture is ErrorFixture => !isAbsent(fixture),
    )
    const said = stage.secrets.join(' and ')
    for (const script of [
      wholeScript(text),
      ...refusals.map(errorScript),
      reply([`${said} are refused at ${stage.upstream.origin}`], { status: 400 }),
      reply([JSON.stringify({ error: { message: `${said} are refused at ${stage.upstream.origin}` } })], { status: 400 }),
    ]) {
      stage.answer(script)
      const replied = await stage.post(request(subject.model))
      const seen = JSON.stringify([...replied.headers]) + (await replied.text())
      for (const secret of [...stage.secrets, new URL(stage.upstream.origin).host]) assert.ok(!holds(seen, secret), seen)
    }
  })
}

/** Whether a text has a secret in it, as it is or as a URL writes it. Multi-line ones are told by their lines. */
function holds(text: string, secret: string): boolean {
  const lines = secret.split('\n').filter((line) => line.length > 5)
  return lines.some((line) => text.includes(line) || text.includes(encodeURIComponent(line)))
}
