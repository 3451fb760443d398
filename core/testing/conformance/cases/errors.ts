import assert from 'node:assert/strict'
import { readText } from '../../gateway/read-text.ts'
import { RETRY_AFTER_FORMS, retryAfter } from '../../upstream/replies.ts'
import { FIN, RST } from '../../upstream/script.ts'
import type { Suite } from '../harness.ts'
import { type ErrorFixture, type Errors, isAbsent } from '../provider-under-test.ts'
import { request, requestOf } from '../requests.ts'
import { errorHeaders, errorScript, splitAtFirstContent, streamBody, streamScript } from '../scripts.ts'
import { caught, itWithSdk } from '../sdk.ts'

/** The client's error for each error of the upstream: one of these statuses, and this code unless the upstream chooses it. */
const ERRORS: Readonly<
  Record<keyof Errors, { readonly title: string; readonly statuses: readonly number[]; readonly code?: string }>
> = {
  badRequest: { title: 'an invalid request', statuses: [400, 413, 422] },
  contextTooLong: { title: 'a prompt that is too long', statuses: [400], code: 'context_length_exceeded' },
  badCredential: {
    title: "the gateway's credential being refused, not as the client's fault",
    statuses: [400],
    code: 'upstream_authentication_error',
  },
  unknownModel: { title: 'an unknown model', statuses: [404], code: 'model_not_found' },
  rateLimit: { title: 'too many requests', statuses: [429], code: 'rate_limit_exceeded' },
  quota: {
    title: "the operator's account having no credit, not as the client's fault",
    statuses: [429],
    code: 'insufficient_quota',
  },
  overloaded: { title: 'an overloaded upstream', statuses: [503], code: 'upstream_overloaded' },
  internal: { title: 'an internal error of the upstream', statuses: [502], code: 'upstream_error' },
}

/** Seconds in the upstream's `retry-after`, unless the fixture sets another. */
const RETRY_AFTER_SECONDS = 7

/** Cases for error replies and broken streams. */
export function describeErrors(suite: Suite): void {
  const { subject } = suite

  describe('reports to the official SDK', () => {
    for (const [name, fixture] of Object.entries(subject.errors) as [keyof Errors, Errors[keyof Errors]][]) {
      if (!isAbsent(fixture)) itWithSdk(ERRORS[name].title, () => expectRefusal(suite, name, fixture))
    }

    const { rateLimit } = subject.errors
    if (!isAbsent(rateLimit) && rateLimit.retryAfter === undefined && !subject.local) {
      itWithSdk('how long to wait, from every form of the header', async () => {
        for (const form of RETRY_AFTER_FORMS) {
          suite.harness.answer(
            errorScript({ ...rateLimit, headers: { ...errorHeaders(rateLimit), ...retryAfter(RETRY_AFTER_SECONDS, form) } }),
          )
          const { headers } = await caught(suite.harness.sdk.chat.completions.create(request(subject.model, rateLimit.asked)))
          const seconds = Number(headers?.get('retry-after'))
          // By a date, some of the time has passed.
          assert.ok(seconds > 0 && seconds <= RETRY_AFTER_SECONDS, `retry-after in ${form}: ${seconds}`)
        }
      })
    }

    const { midStreamError } = subject
    if (!isAbsent(midStreamError)) {
      itWithSdk('an error in the middle of a stream, as its last frame', async () => {
        if (!subject.local) suite.harness.answer(streamScript(subject, streamBody(midStreamError)))
        await expectBrokenStream(suite, request(subject.model, midStreamError.asked), midStreamError.code)
      })
    }
  })

  if (subject.local) return
  const asked = requestOf(subject.model, 'text', subject.scenarios.text)
  for (const [how, ending] of [
    ['closes the connection early', FIN],
    ['resets the connection', RST],
  ] as const) {
    itWithSdk(`ends a stream with an error when the upstream ${how}`, async () => {
      suite.harness.answer(streamScript(subject, [...splitAtFirstContent(suite)[0], ending]))
      await expectBrokenStream(suite, asked, 'upstream_disconnected')
    })
  }
}

async function expectRefusal({ subject, harness }: Suite, name: keyof Errors, fixture: ErrorFixture): Promise<void> {
  const expected = ERRORS[name]
  const waits = name === 'rateLimit'
  const headers = () => ({ ...(waits && { 'retry-after': String(RETRY_AFTER_SECONDS) }), ...errorHeaders(fixture) })
  if (!subject.local) harness.answer(() => errorScript({ ...fixture, headers }))
  for (const stream of [false, true]) {
    const error = await caught(harness.sdk.chat.completions.create({ ...request(subject.model, fixture.asked), stream }))
    assert.ok(expected.statuses.includes(error.status!), `${expected.statuses.join(' or ')}, and not ${error.message}`)
    if (expected.code !== undefined) assert.equal(error.code, expected.code)
    if (fixture.param !== undefined) assert.equal(error.param, fixture.param)
    assert.equal(typeof error.type, 'string', 'an error has a type')
    if (waits) expectWait(Number(error.headers?.get('retry-after')), fixture)
  }
}

/** By a time, a part of a second has passed. */
function expectWait(seconds: number, { retryAfter: wanted = RETRY_AFTER_SECONDS, headers }: ErrorFixture): void {
  const least = typeof headers === 'function' ? wanted - 1 : wanted
  assert.ok(seconds >= least && seconds <= wanted, `the client gets the time to wait, ${wanted} seconds, and not ${seconds}`)
}

/** Once the head is sent, one error frame is all that tells a client of the failure. */
async function expectBrokenStream({ harness }: Suite, asked: ReturnType<typeof request>, code: string): Promise<void> {
  const error = await caught(harness.sdk.chat.completions.create({ ...asked, stream: true }))
  assert.equal(error.code, code, error.message)
  const reply = await harness.post({ ...asked, stream: true })
  const frames = (await readText(reply)).split('\n\n').filter((frame) => frame !== '')
  assert.equal(reply.status, 200, 'the head was sent before the error')
  assert.equal(frames.filter((frame) => frame.startsWith('data: {"error":')).length, 1, 'exactly one frame holds the error')
  assert.ok(frames.at(-1)?.startsWith('data: {"error":'), 'nothing follows the error, not even [DONE]')
}
