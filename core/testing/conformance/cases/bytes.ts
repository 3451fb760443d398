import assert from 'node:assert/strict'
import { assertSame, cutAtEveryByte, splitAtEveryByte, streamRunner } from '../../translator/every-byte.ts'
import { BOM, comment, encoded, html, pieces, reply, withLineEnds } from '../../upstream/replies.ts'
import { hold } from '../../upstream/script.ts'
import type { Suite } from '../harness.ts'
import type { ProviderUnderTest } from '../provider-under-test.ts'
import { present } from '../provider-under-test.ts'
import { requestOf } from '../requests.ts'
import { splitAtFirstContent, streamBody, streamScript, wholeBody, wholeScript } from '../scripts.ts'
import { caught, itWithSdk } from '../sdk.ts'

/** Cases for the bytes of a reply: how the network splits them, how the upstream encodes them, replies that are not valid. */
export function describeBytes(suite: Suite): void {
  const { subject } = suite
  const { text } = subject.scenarios
  const request = requestOf(subject.model, 'text', text)

  describe('reads the same stream', () => {
    for (const [name, fixture] of present(subject)) {
      const asked = requestOf(subject.model, name, fixture)
      const bytes = () => Buffer.concat(streamBody(fixture).map((event) => Buffer.from(event)))
      it(`split at every byte (${name})`, () => splitAtEveryByte(suite.harness.provider, bytes(), asked))
      it(`cut at every byte, as an error and never as a whole reply (${name})`, () =>
        cutAtEveryByte(suite.harness.provider, bytes(), asked))
    }

    if (isSse(subject)) {
      it('with any line ends, with comments and after a byte order mark', () => {
        const run = streamRunner(suite.harness.provider, request)
        const events = streamBody(text).map((event) => Buffer.from(event).toString().replaceAll('\r\n', '\n'))
        const plain = run(events)
        assertSame(run(events.map((event) => withLineEnds(event, '\r\n'))), plain, 'with CR LF')
        assertSame(run(events.map((event) => withLineEnds(event, '\r'))), plain, 'with CR')
        assertSame(run(events.flatMap((event) => [comment('ping'), event])), plain, 'with comments')
        assertSame(run([BOM, ...events]), plain, 'after a byte order mark')
      })
    }

    itWithSdk('that arrives byte by byte', async () => {
      suite.harness.answer(pieces(streamScript(subject, streamBody(text)), 1))
      assert.equal(await suite.harness.sdk.chat.completions.stream(request).finalContent(), text.says.text)
    })

    itWithSdk('that is compressed although the request does not accept it', async () => {
      const { streamType = 'text/event-stream' } = subject
      suite.harness.answer(encoded('gzip', streamBody(text), { headers: { 'content-type': streamType } }))
      assert.equal(await suite.harness.sdk.chat.completions.stream(request).finalContent(), text.says.text)
    })

    itWithSdk('without waiting for its end', async () => {
      const [begun, rest] = splitAtFirstContent(suite)
      const stalled = hold()
      suite.harness.answer(streamScript(subject, [...begun, stalled, ...rest]))
      let content = ''
      for await (const chunk of await suite.harness.sdk.chat.completions.create({ ...request, stream: true })) {
        content += chunk.choices[0]?.delta.content ?? ''
        // The upstream continues only after the client has the first content.
        if (content !== '') stalled.release()
      }
      assert.equal(content, text.says.text)
    })
  })

  describe('reads a reply', () => {
    for (const [kind, script] of [
      ['whole', () => wholeScript(text)],
      ['streamed', () => streamScript(subject, streamBody(text))],
    ] as const) {
      it(`whose first byte is slow (${kind})`, async () => {
        const slow = hold()
        suite.harness.answer([slow, ...script()])
        const replied = suite.harness.post({ ...request, stream: kind === 'streamed' })
        await slow.reached
        slow.release()
        const reply = await replied
        assert.equal(reply.status, 200, await reply.text())
      })
    }

    itWithSdk('that is compressed although the request does not accept it', async () => {
      suite.harness.answer(encoded('gzip', wholeBody(text), { headers: { 'content-type': 'application/json' } }))
      const { choices } = await suite.harness.sdk.chat.completions.create(request)
      assert.equal(choices[0]!.message.content, text.says.text)
    })
  })

  describe('answers 502 for', () => {
    for (const [what, script] of [
      ['a page of HTML', html()],
      ['an empty body', reply([], { headers: { 'content-type': 'application/json' } })],
      ['JSON that is not a completion', reply(['{}'], { headers: { 'content-type': 'application/json' } })],
    ] as const) {
      itWithSdk(`${what} with status 200`, async () => {
        suite.harness.answer(script)
        for (const stream of [false, true]) {
          const { status, code } = await caught(suite.harness.sdk.chat.completions.create({ ...request, stream }))
          assert.equal(status, 502)
          assert.match(String(code), /^upstream_(?:invalid_response|disconnected)$/)
        }
      })
    }
  })
}

const isSse = ({ streamType = 'text/event-stream' }: ProviderUnderTest): boolean => streamType.startsWith('text/event-stream')
