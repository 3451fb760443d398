import type { ChatChunk } from '../../sdk/api.ts'
import type { RepliedCall, ReplyWriter } from '../client-protocol.ts'
import { ResponseBuilder } from './reply.ts'
import { frameOf } from './wire.ts'

/**
 * Writes chunks as the events of a response: response.created and response.in_progress, then per item its start, pieces and end, then
 * response.completed or response.incomplete ("Streaming events", developers.openai.com).
 */
export class ResponseStreamWriter implements ReplyWriter {
  readonly #builder: ResponseBuilder
  #out = ''
  #number = 0

  constructor(call: RepliedCall) {
    this.#builder = new ResponseBuilder(call, ({ type, ...body }) => {
      this.#out += frameOf({ type, sequence_number: this.#number++, ...body } as Parameters<typeof frameOf>[0])
    })
  }

  write(chunk: ChatChunk): string {
    this.#builder.begin(chunk)
    this.#builder.read(chunk)
    return this.#take()
  }

  end(): string {
    this.#builder.end()
    return this.#take()
  }

  #take(): string {
    const out = this.#out
    this.#out = ''
    return out
  }
}
