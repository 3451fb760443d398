import assert from 'node:assert/strict'
import type { Step } from '../script.ts'
import { streamRunner } from '../translator/every-byte.ts'
import { requestOf } from './requests.ts'
import { streamBody } from './scripts.ts'
import type { Suite } from './suite.ts'

/** In a chunk's text: a piece of content that is not empty. */
const SPEAKS = /"content":"[^"]/

/** The events of the text up to the one by which a client has its first words, and those after it. */
export function untilFirstWords({ subject, stage }: Suite): [begun: Step[], rest: Step[]] {
  const { text } = subject.scenarios
  const events = streamBody(text)
  const run = streamRunner(stage.provider, requestOf(subject.model, 'text', text))
  const speaks = (count: number) => SPEAKS.test(run(events.slice(0, count)).text)
  const count = events.findIndex((_, index) => speaks(index + 1)) + 1
  assert.ok(count > 0 && count < events.length, 'the text comes in several events, the last of them without words')
  return [events.slice(0, count), events.slice(count)]
}
