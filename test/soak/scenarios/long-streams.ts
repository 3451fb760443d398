import { setTimeout as delay } from 'node:timers/promises'
import { chunk, DONE, head, json, lastChunk, type ScriptedUpstream, type Step, sse } from '../../../core/testing/kit.ts'
import { chunkOf, openai } from '../../e2e/sdk/openai-dialect.ts'

const KB = 1024
const MB = 1024 * KB

/** One write of a stream: four events of 16 KB. */
const PIECE = chunk(chunkOf({ content: 'x'.repeat(16 * KB) }).repeat(4))

/** Bytes per second of all streams together: at full speed they would leave the gateway no time for other calls. */
const PACE = 120 * MB

/** If nothing is sent for so long, every stream is stuck. */
const STILL_MS = 1_000

/** An upstream with streams of the length in the model's name, 20 MB for `open/20`; `open/small` gets an immediate reply. */
export class LongStreams {
  /** Streams sent to their end. */
  ended = 0
  /** Their connections' ends. */
  #closing: Promise<void>[] = []
  #closed = 0
  #sent = 0
  #due = 0

  constructor(upstream: ScriptedUpstream) {
    upstream.on((request) => {
      const { model, stream } = request.json() as { readonly model: string; readonly stream?: boolean }
      if (model === 'small') return stream ? sse(openai.events({ text: ['Hello!'] })) : json(openai.whole({ text: ['Hello!'] }))
      this.#closing.push(request.closed.then(() => void this.#closed++))
      return this.#stream(Number(model) * MB)
    })
  }

  /** Resolves when all streams are stuck. Throws if the gateway cuts one before that. */
  async stuck(): Promise<void> {
    this.#closed = 0
    for (let last = -1; last !== this.#sent; ) {
      last = this.#sent
      await delay(STILL_MS)
    }
    if (this.#closed > 0) throw new Error('the machine is too slow: some readers were cut before all were stuck')
  }

  /** Resolves when all streams have been cut. */
  async cut(): Promise<void> {
    await Promise.all(this.#closing)
    this.#closing = []
  }

  async *#stream(size: number): AsyncGenerator<Step> {
    yield head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' })
    for (let sent = 0; sent < size; sent += PIECE.length) {
      await this.#turn()
      yield PIECE
      this.#sent += PIECE.length
    }
    this.ended++
    yield chunk(chunkOf({}, 'stop') + DONE)
    yield lastChunk()
  }

  async #turn(): Promise<void> {
    const now = performance.now()
    this.#due = Math.max(this.#due, now) + (PIECE.length / PACE) * 1000
    await delay(Math.max(0, this.#due - now))
  }
}
