import { chunk, comment, head, hold, type Step } from '../../../../core/testing/kit.ts'
import type { Fault } from '../assertions.ts'
import { TIMEOUT } from '../failures.ts'
import { beginning } from './broken-streams.ts'

const CHUNKED = { 'transfer-encoding': 'chunked' }
const STREAM = head(200, { 'content-type': 'text/event-stream', ...CHUNKED })
const WHOLE = head(200, { 'content-type': 'application/json', ...CHUNKED })
/** The steps, and then the last of them for ever. */
function* endless(...steps: readonly Step[]): Generator<Step> {
  yield* steps
  for (;;) yield steps.at(-1)!
}

const stalling = (name: string, script: Fault['script']): Fault => ({ name, script, failure: TIMEOUT })

/** The plainest of them. */
export const SILENCE = stalling('takes the request and says nothing', () => [hold()])

/** Stalls that end with a status, by the limit that they exceed: before a body, and before any of it was sent to the client. */
export const STALLS: Readonly<Record<string, readonly Fault[]>> = {
  firstByte: [
    stalling('says nothing after the headers of a reply', () => [WHOLE, hold()]),
    stalling('says nothing after the headers of a stream', () => [STREAM, hold()]),
    stalling('gives early hints for ever', () => endless(head(103, { link: '</style.css>' }))),
  ],
  idle: [
    stalling('stops within a reply', () => [WHOLE, chunk('{"id":'), hold()]),
    stalling('stops within the first event of a stream', () => [STREAM, chunk('data: {"id":'), hold()]),
  ],
  total: [
    stalling('sends blanks for ever', () => endless(WHOLE, chunk(' '))),
    stalling('sends nothing but comments, for ever', () => endless(STREAM, chunk(comment('ping')))),
  ],
}

/** A stall within a stream. */
export const STREAM_PAUSE = stalling('stops within a stream', (dialect) => [STREAM, ...beginning(dialect).map(chunk), hold()])
/** A stream that has no end. */
export const STREAM_TRICKLE = stalling('streams for ever', (dialect) => endless(STREAM, ...beginning(dialect).map(chunk)))
