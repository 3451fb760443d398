import { EventEmitter } from 'node:events'
import type { RelayedResponse } from '../../../core/dispatch/relay.ts'

/** A client's end of a stream: takes what is written, as fast as the test says. Emits `written`. */
export class FakeClient extends EventEmitter {
  readonly #writes: Buffer[] = []
  /** Whether it takes no more before `drain`. */
  full = false
  /** How its connection ended: in order, or broken after the last bytes. */
  ending: 'open' | 'ended' | 'broken' = 'open'
  readonly statusCode = 200
  /** As a client of HTTP/1.0. */
  chunkedEncoding = false

  /** What the relay takes it for. */
  get response(): RelayedResponse {
    return this as unknown as RelayedResponse
  }

  breakOff(): void {
    this.#close('broken')
  }

  get writableNeedDrain(): boolean {
    return this.full
  }

  /** Everything so far. */
  get text(): string {
    return Buffer.concat(this.#writes).toString()
  }

  get writes(): readonly string[] {
    return this.#writes.map(String)
  }

  /** The head is not part of what is written. */
  writeHead(): void {}

  flushHeaders(): void {}

  write(text: string, encoding?: BufferEncoding): boolean {
    this.#writes.push(Buffer.from(text, encoding))
    this.emit('written')
    return !this.full
  }

  end(text: string, encoding: BufferEncoding): void {
    this.write(text, encoding)
    this.#close('ended')
  }

  /** Takes everything, and says so. */
  drain(): void {
    this.full = false
    this.emit('drain')
  }

  #close(ending: 'ended' | 'broken'): void {
    if (this.ending === 'open') this.ending = ending
  }
}
