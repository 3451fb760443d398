import { json, type ReplyOptions, reply } from '../replies.ts'
import { type Bytes, isBytes, type Step } from '../script.ts'
import type { ProviderUnderTest } from './describe-provider.ts'
import type { ErrorFixture, ReplyFixture } from './scenarios.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** The body of a whole reply. Throws where the fixture has none. */
export function wholeBody({ whole }: ReplyFixture): Bytes {
  if (whole === undefined) throw new Error('this scenario has no whole reply: give it as `whole`')
  return isBytes(whole) ? whole : JSON.stringify(whole)
}

/** The events of a stream. Throws where the fixture has none. */
export function streamBody({ stream }: { readonly stream?: readonly Bytes[] }): readonly Bytes[] {
  if (stream === undefined) throw new Error('this scenario has no stream: give its events as `stream`')
  return stream
}

/** An upstream's whole reply. */
export function wholeScript(fixture: ReplyFixture, options: ReplyOptions = {}): Step[] {
  return reply([wholeBody(fixture)], { ...options, headers: { ...JSON_TYPE, ...options.headers } })
}

/** An upstream's stream of these events, among which holds and ends may stand. */
export function streamScript({ streamType = 'text/event-stream' }: ProviderUnderTest, events: readonly Step[]): Step[] {
  return reply(events, { framing: 'chunked', headers: { 'content-type': streamType } })
}

/** An upstream's refusal. */
export function errorScript({ status, body, headers = {} }: ErrorFixture): Step[] {
  return isBytes(body) ? reply([body], { status, headers: { ...JSON_TYPE, ...headers } }) : json(body, { status, headers })
}
