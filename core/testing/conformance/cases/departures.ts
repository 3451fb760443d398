import assert from 'node:assert/strict'
import { hold, type Step } from '../../script.ts'
import { untilFirstWords } from '../first-words.ts'
import { requestOf } from '../requests.ts'
import { streamScript } from '../scripts.ts'
import { itWithSdk, type Suite } from '../suite.ts'

/** What becomes of the upstream's request when the client leaves. */
export function describeDepartures(suite: Suite): void {
  const { subject } = suite
  const request = requestOf(subject.model, 'text', subject.scenarios.text)

  /** Calls, leaves when the upstream has come to the hold, and waits until its connection is closed. */
  async function leave(stalled: ReturnType<typeof hold>, script: readonly Step[]): Promise<void> {
    const { stage } = suite
    const client = new AbortController()
    stage.answer(script)
    const asked = stage.asked.length
    const calling = stage.sdk.chat.completions
      .create({ ...request, stream: true }, { signal: client.signal })
      .then((stream) => Array.fromAsync(stream))
      .catch(() => undefined)
    await stalled.reached
    client.abort()
    await calling
    assert.equal(stage.asked.length, asked + 1)
    await stage.asked.at(-1)!.closed
  }

  itWithSdk('leaves its upstream alone when the client leaves before the first byte', () => {
    const stalled = hold()
    return leave(stalled, [stalled])
  })

  itWithSdk('leaves its upstream alone when the client leaves within a stream', () => {
    const stalled = hold()
    return leave(stalled, streamScript(subject, [...untilFirstWords(suite)[0], stalled]))
  })
}
