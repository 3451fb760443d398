import { crc32 } from 'node:zlib'
import { EventStreamCodec, type MessageHeaders } from '@smithy/eventstream-codec'
import type { UpstreamDecoder, UpstreamEvent } from 'unified-model-gateway/plugin'

/** Length of the frame, length of its headers, and the checksum of both, four bytes each. */
const PRELUDE = 12
/** Far above any part of a real reply: a longer frame must not fill the memory. */
const MAX_FRAME = 16 << 20

/**
 * Cuts bytes into the frames of AWS's event streams (`application/vnd.amazon.eventstream`) and verifies their checksums. An event's type
 * is the frame's `:event-type` or `:exception-type`; its headers are the frame's headers of type string. Throws if a checksum is wrong or
 * bytes are left over.
 */
export class FrameDecoder implements UpstreamDecoder {
  readonly #codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
    (text) => Buffer.from(text),
  )
  #waiting: Buffer = Buffer.alloc(0)

  end(): readonly UpstreamEvent[] {
    if (this.#waiting.length > 0) throw new Error('The stream ended within a frame.')
    return []
  }

  *push(bytes: Buffer): Generator<UpstreamEvent> {
    this.#waiting = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes])
    for (let length = this.#length(); length <= this.#waiting.length; length = this.#length()) {
      const frame = this.#waiting.subarray(0, length)
      this.#waiting = this.#waiting.subarray(length)
      yield this.#event(frame)
    }
  }

  /** Length of the next frame; Infinity until its prelude has arrived. The prelude's checksum is verified first: a wrong length would never be reached. */
  #length(): number {
    if (this.#waiting.length < PRELUDE) return Number.POSITIVE_INFINITY
    const length = this.#waiting.readUInt32BE(0)
    if (crc32(this.#waiting.subarray(0, PRELUDE - 4)) !== this.#waiting.readUInt32BE(PRELUDE - 4)) {
      throw new Error('The checksum of a frame’s prelude is wrong.')
    }
    if (length > MAX_FRAME) throw new Error(`A frame has ${length} bytes, more than ${MAX_FRAME}.`)
    return length
  }

  #event(frame: Buffer): UpstreamEvent {
    const { headers, body } = this.#codec.decode(frame)
    const texts = textsOf(headers)
    return {
      type: texts[':event-type'] ?? texts[':exception-type'] ?? '',
      data: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'),
      headers: texts,
    }
  }
}

function textsOf(headers: MessageHeaders): Record<string, string> {
  const texts = Object.entries(headers).flatMap(([name, { type, value }]) => (type === 'string' ? [[name, value] as const] : []))
  return Object.fromEntries(texts)
}
