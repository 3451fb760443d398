import assert from 'node:assert/strict'
import { BOM, comment, encoded, html, pieces, reply, withLineEnds } from '../../replies.ts'
import { hold } from '../../script.ts'
import { assertSame, cutAtEveryByte, splitAtEveryByte, streamRunner } from '../../translator/every-byte.ts'
import type { ProviderUnderTest } from '../describe-provider.ts'
import { untilFirstWords } from '../first-words.ts'
import { requestOf } from '../requests.ts'
import { streamBody, streamScript, wholeBody, wholeScript } from '../scripts.ts'
import { caught } from '../sdk-error.ts'
import { itWithSdk, present, type Suite } from '../suite.ts'

/** What the network and the upstream may do to the bytes of a reply. */
export function describeBytes(suite: Suite): void {
  const { subject } = suite
  const { text } = subject.scenarios
  const request = requestOf(subject.model, 'text', text)

  describe('reads the same stream', () => {
    for (const [name, fixture] of present(subject)) {
      const asked = requestOf(subject.model, name, fixture)
      const bytes = () => Buffer.concat(streamBody(fixture).map((event) => Buffer.from(event)))
      it(`split at every byte (${name})`, () => splitAtEveryByte(suite.stage.provider, bytes(), asked))
      it(`cut at every byte, as an error and never as a whole reply (${name})`, () =>
        cutAtEveryByte(suite.stage.provider, bytes(), asked))
    }

    if (isSse(subject)) {
      it('with any line ends, with comments, and after a byte order mark', () => {
        const run = streamRunner(suite.stage.provider, request)
        const events = streamBody(text).map((event) => Buffer.from(event).toString().replaceAll('\r\n', '\n'))
        const plain = run(events)
        assertSame(run(events.map((event) => withLineEnds(event, '\r\n'))), plain, 'with CR LF')
        assertSame(run(events.map((event) => withLineEnds(event, '\r'))), plain, 'with CR')
        assertSame(run(events.flatMap((event) => [comment('ping'), event])), plain, 'with comments')
        assertSame(run([BOM, ...events]), plain, 'after a byte order mark')
      })
    }

    itWithSdk('byte by byte from the network', async () => {
      suite.stage.answer(pieces(streamScript(subject, streamBody(text)), 1))
      assert.equal(await suite.stage.sdk.chat.completions.stream(request).finalContent(), text.says.text)
    })

    itWithSdk('compressed, though nobody asked for that', async () => {
      const { streamType = 'text/event-stream' } = subject
      suite.stage.answer(encoded('gzip', streamBody(text), { headers: { 'content-type': streamType } }))
      assert.equal(await suite.stage.sdk.chat.completions.stream(request).finalContent(), text.says.text)
    })

    itWithSdk('piece by piece, each as it comes', async () => {
      const [begun, rest] = untilFirstWords(suite)
      const stalled = hold()
      suite.stage.answer(streamScript(subject, [...begun, stalled, ...rest]))
      let said = ''
      for await (const chunk of await suite.stage.sdk.chat.completions.create({ ...request, stream: true })) {
        said += chunk.choices[0]?.delta.content ?? ''
        // The upstream goes on only once its first words have arrived.
        if (said !== '') stalled.release()
      }
      assert.equal(said, text.says.text)
    })
  })

  describe('reads a reply', () => {
    for (const [kind, script] of [
      ['whole', () => wholeScript(text)],
      ['streamed', () => streamScript(subject, streamBody(text))],
    ] as const) {
      it(`whose first byte is slow (${kind})`, async () => {
        const slow = hold()
        suite.stage.answer([slow, ...script()])
        const replied = suite.stage.post({ ...request, stream: kind === 'streamed' })
        await slow.reached
        slow.release()
        const reply = await replied
        assert.equal(reply.status, 200, await reply.text())
      })
    }

    itWithSdk('that is compressed, though nobody asked for that', async () => {
      suite.stage.answer(encoded('gzip', wholeBody(text), { headers: { 'content-type': 'application/json' } }))
      const { choices } = await suite.stage.sdk.chat.completions.create(request)
      assert.equal(choices[0]!.message.content, text.says.text)
    })
  })

  describe('answers 502 for', () => {
    for (const [what, script] of [
      ['a page of HTML', html()],
      ['nothing', reply([], { headers: { 'content-type': 'application/json' } })],
      ['JSON that is no reply', reply(['{}'], { headers: { 'content-type': 'application/json' } })],
    ] as const) {
      itWithSdk(`${what} with status 200`, async () => {
        suite.stage.answer(script)
        for (const stream of [false, true]) {
          const { status, code } = await caught(suite.stage.sdk.chat.completions.create({ ...request, stream }))
          assert.equal(status, 502)
          assert.match(String(code), /^upstream_(?:invalid_response|disconnected)$/)
        }
      })
    }
  })
}

const isSse = ({ streamType = 'text/event-stream' }: ProviderUnderTest): boolean => streamType.startsWith('text/event-stream')
