import type { UpstreamDecoder, UpstreamEvent } from 'unified-model-gateway/plugin'

const LINE_FEED = 10
/** Far above any piece of a reply: a longer line must not fill the memory. */
const MAX_LINE = 8 << 20

/** Cuts bytes into the lines of `application/x-ndjson`: one JSON text each. Blank ones are passed over. */
export class LineDecoder implements UpstreamDecoder {
  #begun: Buffer[] = []
  #length = 0

  /** The line under way: the last one needs no end. */
  end(): readonly UpstreamEvent[] {
    const data = Buffer.concat(this.#begun).toString('utf8').trim()
    this.#begun = []
    this.#length = 0
    return data === '' ? [] : [{ type: '', data }]
  }

  *push(bytes: Buffer): Generator<UpstreamEvent> {
    let from = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
      this.#keep(bytes.subarray(from, end))
      yield* this.end()
      from = end + 1
    }
    this.#keep(bytes.subarray(from))
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#begun.push(bytes)
    this.#length += bytes.length
    if (this.#length > MAX_LINE) throw new Error(`A line has more than ${MAX_LINE} bytes.`)
  }
}
