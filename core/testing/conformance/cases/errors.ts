import assert from 'node:assert/strict'
import { readText } from '../../read-text.ts'
import { RETRY_AFTER_FORMS, retryAfter } from '../../replies.ts'
import { FIN, RST } from '../../script.ts'
import { untilFirstWords } from '../first-words.ts'
import { request, requestOf } from '../requests.ts'
import { type ErrorFixture, type Errors, isAbsent } from '../scenarios.ts'
import { errorScript, streamBody, streamScript } from '../scripts.ts'
import { caught } from '../sdk-error.ts'
import { itWithSdk, type Suite } from '../suite.ts'

/** What a client reads of each refusal: one of these statuses, and this code, unless it is the upstream's to choose. */
const ERRORS: Readonly<
  Record<keyof Errors, { readonly title: string; readonly statuses: readonly number[]; readonly code?: string }>
> = {
  badRequest: { title: 'a request that is not valid', statuses: [400, 413, 422] },
  contextTooLong: { title: 'a prompt that is too long', statuses: [400], code: 'context_length_exceeded' },
  badCredential: {
    title: "a credential that is refused, the gateway's and not the client's",
    statuses: [502],
    code: 'upstream_authentication_error',
  },
  unknownModel: { title: 'a model that is unknown', statuses: [404], code: 'model_not_found' },
  rateLimit: { title: 'too many requests', statuses: [429], code: 'rate_limit_exceeded' },
  quota: {
    title: "an account that is empty, the operator's and not the client's",
    statuses: [502],
    code: 'upstream_quota_exceeded',
  },
  overloaded: { title: 'an overloaded upstream', statuses: [503], code: 'upstream_overloaded' },
  internal: { title: 'a fault of the upstream', statuses: [502], code: 'upstream_error' },
}

/** Seconds that the suite's upstream asks for where the fixture does not say. */
const WAIT = 7

/** What clients are told when the upstream refuses or breaks off. */
export function describeErrors(suite: Suite): void {
  const { subject } = suite

  describe('tells the official SDK of', () => {
    for (const [name, fixture] of Object.entries(subject.errors) as [keyof Errors, Errors[keyof Errors]][]) {
      if (!isAbsent(fixture)) itWithSdk(ERRORS[name].title, () => expectRefusal(suite, name, fixture))
    }

    const { rateLimit } = subject.errors
    if (!isAbsent(rateLimit) && rateLimit.retryAfter === undefined && !subject.local) {
      itWithSdk('how long to wait, in whichever form its upstream says it', async () => {
        for (const form of RETRY_AFTER_FORMS) {
          suite.stage.answer(errorScript({ ...rateLimit, headers: { ...rateLimit.headers, ...retryAfter(WAIT, form) } }))
          const { headers } = await caught(suite.stage.sdk.chat.completions.create(request(subject.model, rateLimit.asked)))
          const seconds = Number(headers?.get('retry-after'))
          // A date has been on its way for a while.
          assert.ok(seconds > 0 && seconds <= WAIT, `retry-after in ${form}: ${seconds}`)
        }
      })
    }

    const { midStreamError } = subject
    if (!isAbsent(midStreamError)) {
      itWithSdk('an error in the middle of a stream, and ends it there', async () => {
        if (!subject.local) suite.stage.answer(streamScript(subject, streamBody(midStreamError)))
        await expectBrokenStream(suite, request(subject.model, midStreamError.asked), midStreamError.code)
      })
    }
  })

  if (subject.local) return
  const whole = requestOf(subject.model, 'text', subject.scenarios.text)
  for (const [how, ending] of [
    ['ends before its end', FIN],
    ['is reset', RST],
  ] as const) {
    itWithSdk(`ends a stream by an error where its upstream ${how}`, async () => {
      suite.stage.answer(streamScript(subject, [...untilFirstWords(suite)[0], ending]))
      await expectBrokenStream(suite, whole, 'upstream_disconnected')
    })
  }
}

async function expectRefusal({ subject, stage }: Suite, name: keyof Errors, fixture: ErrorFixture): Promise<void> {
  const expected = ERRORS[name]
  const waits = name === 'rateLimit'
  const headers = { ...(waits && { 'retry-after': String(WAIT) }), ...fixture.headers }
  if (!subject.local) stage.answer(errorScript({ ...fixture, headers }))
  for (const stream of [false, true]) {
    const error = await caught(stage.sdk.chat.completions.create({ ...request(subject.model, fixture.asked), stream }))
    assert.ok(expected.statuses.includes(error.status!), `${expected.statuses.join(' or ')}, and not ${error.message}`)
    if (expected.code !== undefined) assert.equal(error.code, expected.code)
    assert.equal(typeof error.type, 'string', 'an error has its type')
    if (waits)
      assert.equal(error.headers?.get('retry-after'), String(fixture.retryAfter ?? WAIT), 'the client is told how long to wait')
  }
}

/** The head is out: a client learns by one frame, and by nothing else, that the stream is broken. */
async function expectBrokenStream({ stage }: Suite, asked: ReturnType<typeof request>, code: string): Promise<void> {
  const error = await caught(stage.sdk.chat.completions.create({ ...asked, stream: true }))
  assert.equal(error.code, code, error.message)
  const reply = await stage.post({ ...asked, stream: true })
  const frames = (await readText(reply)).split('\n\n').filter((frame) => frame !== '')
  assert.equal(reply.status, 200, 'some of the stream has been sent')
  assert.equal(frames.filter((frame) => frame.startsWith('data: {"error":')).length, 1, 'one frame tells the error')
  assert.ok(frames.at(-1)?.startsWith('data: {"error":'), 'nothing comes after the error, [DONE] least of all')
}
