import { setTimeout as delay } from 'node:timers/promises'
import { json, type ScriptedUpstream, type Step, sse } from '../../core/testing/kit.ts'
import { chunkOf, openai } from '../e2e/sdk/openai-dialect.ts'

const EVENT_MS = 50

/** Replies with streams of an event every 50 ms until `over` is aborted, and with immediate whole replies. */
export function serveEndlessStreams(open: ScriptedUpstream, over: AbortSignal): void {
  const [head, first, ...rest] = sse([...openai.events({ text: ['Hello!'] })])
  const [, again] = sse([chunkOf({ content: 'Hello!' })])

  async function* endless(): AsyncGenerator<Step> {
    yield* [head!, first!]
    while (!over.aborted) {
      yield again!
      await delay(EVENT_MS)
    }
    yield* rest
  }

  open.on(({ headers }) => (headers.accept === 'text/event-stream' ? endless() : json(openai.whole({ text: ['Hello!'] }))))
}
