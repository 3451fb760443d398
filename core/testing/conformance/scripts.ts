import assert from 'node:assert/strict'
import { streamRunner } from '../translator/every-byte.ts'
import { type HeaderLines, json, type ReplyOptions, reply } from '../upstream/replies.ts'
import { type Bytes, isBytes, type Step } from '../upstream/script.ts'
import type { Suite } from './harness.ts'
import type { ErrorFixture, ProviderUnderTest, ReplyFixture } from './provider-under-test.ts'
import { requestOf } from './requests.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** The body of a whole reply. Throws if the fixture has none. */
export function wholeBody({ whole }: ReplyFixture): Bytes {
  if (whole === undefined) throw new Error('this scenario has no whole reply: give it as `whole`')
  return isBytes(whole) ? whole : JSON.stringify(whole)
}

/** The events of a stream. Throws if the fixture has none. */
export function streamBody({ stream }: { readonly stream?: readonly Bytes[] }): readonly Bytes[] {
  if (stream === undefined) throw new Error('this scenario has no stream: give its events as `stream`')
  return stream
}

/** An upstream's whole reply. */
export function wholeScript(fixture: ReplyFixture, options: ReplyOptions = {}): Step[] {
  return reply([wholeBody(fixture)], { ...options, headers: { ...JSON_TYPE, ...options.headers } })
}

/** An upstream's stream of these events. Holds and ends may stand among them. */
export function streamScript({ streamType = 'text/event-stream' }: ProviderUnderTest, events: readonly Step[]): Step[] {
  return reply(events, { framing: 'chunked', headers: { 'content-type': streamType } })
}

/** The headers of an error reply that is made now. */
export const errorHeaders = ({ headers = {} }: ErrorFixture): HeaderLines => (typeof headers === 'function' ? headers() : headers)

/** An upstream's error reply, made now. */
export function errorScript(fixture: ErrorFixture): Step[] {
  const { status, body } = fixture
  const headers = errorHeaders(fixture)
  return isBytes(body) ? reply([body], { status, headers: { ...JSON_TYPE, ...headers } }) : json(body, { status, headers })
}

/** Matches a chunk with content that is not empty. */
const HAS_CONTENT = /"content":"[^"]/

/** The events of the text scenario up to the one that gives a client its first content, and those after it. */
export function splitAtFirstContent({ subject, harness }: Suite): [begun: Step[], rest: Step[]] {
  const { text } = subject.scenarios
  const events = streamBody(text)
  const run = streamRunner(harness.provider, requestOf(subject.model, 'text', text))
  const hasContent = (count: number) => HAS_CONTENT.test(run(events.slice(0, count)).text)
  const count = events.findIndex((_, index) => hasContent(index + 1)) + 1
  assert.ok(count > 0 && count < events.length, 'the text comes in several events, the last of them without content')
  return [events.slice(0, count), events.slice(count)]
}
