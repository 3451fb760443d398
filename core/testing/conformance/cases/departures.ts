import assert from 'node:assert/strict'
import { hold, type Step } from '../../upstream/script.ts'
import type { Suite } from '../harness.ts'
import { requestOf } from '../requests.ts'
import { splitAtFirstContent, streamScript } from '../scripts.ts'
import { itWithSdk } from '../sdk.ts'

/** Cases for clients that disconnect: the upstream connection must be closed. */
export function describeDepartures(suite: Suite): void {
  const { subject } = suite
  const request = requestOf(subject.model, 'text', subject.scenarios.text)

  /** Calls, disconnects when the upstream has reached the hold, and waits until the upstream connection is closed. */
  async function disconnect(stalled: ReturnType<typeof hold>, script: readonly Step[]): Promise<void> {
    const { harness } = suite
    const client = new AbortController()
    harness.answer(script)
    const before = harness.received.length
    const calling = harness.sdk.chat.completions
      .create({ ...request, stream: true }, { signal: client.signal })
      .then((stream) => Array.fromAsync(stream))
      .catch(() => undefined)
    await stalled.reached
    client.abort()
    await calling
    assert.equal(harness.received.length, before + 1)
    await harness.received.at(-1)!.closed
  }

  itWithSdk('closes the upstream connection when the client disconnects before the first byte', () => {
    const stalled = hold()
    return disconnect(stalled, [stalled])
  })

  itWithSdk('closes the upstream connection when the client disconnects during a stream', () => {
    const stalled = hold()
    return disconnect(stalled, streamScript(subject, [...splitAtFirstContent(suite)[0], stalled]))
  })
}
