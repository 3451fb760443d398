import assert from 'node:assert/strict'
import { readFrames } from './read-frames.ts'

type Members = Readonly<Record<string, unknown>>

/** A block of a message. */
export interface ReadBlock extends Members {
  readonly type: string
}

/** A message of the Messages API, whole or assembled from a stream. */
export interface ReadMessage {
  readonly content: readonly ReadBlock[]
  readonly stop: unknown
  readonly usage: Members
}

/** A stream of the Messages API, as a client assembles it. */
export interface ReadStream extends ReadMessage {
  /** The `error` of the event that ended it; undefined after message_stop. */
  readonly error?: Members
}

/**
 * Reads a stream as a client of the Messages API receives it. Throws an `AssertionError` if it breaks a rule of platform.claude.com,
 * "Streaming messages": message_start, then per block its start, deltas and stop, then message_delta and message_stop, or an error instead
 * of the rest; pings anywhere.
 */
export function readMessageStream(text: string): ReadStream {
  const reader = new StreamReader()
  for (const event of readFrames(text)) reader.read(event)
  return reader.end()
}

/** The types of deltas that a block takes, and the members that they extend. */
const DELTAS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  text: { text_delta: 'text', citations_delta: '' },
  thinking: { thinking_delta: 'thinking', signature_delta: 'signature' },
  tool_use: { input_json_delta: 'partial_json' },
  server_tool_use: { input_json_delta: 'partial_json' },
}

class StreamReader {
  #state: 'start' | 'blocks' | 'finished' | 'over' = 'start'
  readonly #content: Record<string, unknown>[] = []
  #isOpen = false
  #json = ''
  #usage: Members = {}
  #stop: unknown
  #error: Members | undefined

  read(event: Members): void {
    assert.notEqual(this.#state, 'over', `nothing follows the end: ${JSON.stringify(event)}`)
    if (event.type === 'ping') return
    if (event.type === 'error') {
      this.#error = event.error as Members
      this.#state = 'over'
      return
    }
    assert.equal(event.type === 'message_start', this.#state === 'start', `message_start comes first, once: ${event.type}`)
    this.#readOwn(event)
  }

  end(): ReadStream {
    assert.equal(this.#state, 'over', 'a stream ends with message_stop or an error')
    const read = { content: this.#content as unknown as ReadBlock[], stop: this.#stop, usage: this.#usage }
    return this.#error === undefined ? read : { ...read, error: this.#error }
  }

  #readOwn(event: Members): void {
    switch (event.type) {
      case 'message_start':
        this.#start(event.message as Members)
        break
      case 'content_block_start':
        this.#startBlock(event)
        break
      case 'content_block_delta':
        this.#continueBlock(event)
        break
      case 'content_block_stop':
        this.#stopBlock(event)
        break
      case 'message_delta':
        assert.ok(!this.#isOpen, 'message_delta follows the blocks')
        this.#state = 'finished'
        this.#stop = (event.delta as Members).stop_reason
        this.#usage = { ...this.#usage, ...(event.usage as Members) }
        break
      case 'message_stop':
        assert.equal(this.#state, 'finished', 'message_stop follows message_delta')
        assert.equal(typeof this.#stop, 'string', 'a message has a stop reason')
        this.#state = 'over'
        break
      default:
        assert.fail(`no such event: ${event.type}`)
    }
  }

  #start({ type, role, content, stop_reason: stop, usage }: Members): void {
    assert.deepEqual({ type, role, content, stop }, { type: 'message', role: 'assistant', content: [], stop: null })
    this.#state = 'blocks'
    this.#usage = usage as Members
  }

  #startBlock({ index, content_block: block }: Members): void {
    assert.equal(this.#state, 'blocks', 'blocks come before message_delta')
    assert.ok(!this.#isOpen, 'blocks do not overlap')
    assert.equal(index, this.#content.length, 'blocks are numbered from 0')
    this.#content.push({ ...(block as Members) })
    this.#isOpen = true
    this.#json = ''
  }

  #continueBlock({ index, delta }: Members): void {
    const block = this.#openBlock(index)
    const { type, ...piece } = delta as Members
    const member = DELTAS[String(block.type)]?.[String(type)]
    assert.ok(member !== undefined, `a block of type ${block.type} takes no ${type}`)
    if (member === 'partial_json') this.#json += String(piece.partial_json)
    else if (member !== '') block[member] = String(block[member] ?? '') + String(piece[member])
  }

  #stopBlock({ index }: Members): void {
    const block = this.#openBlock(index)
    if (this.#json !== '') block.input = JSON.parse(this.#json)
    this.#isOpen = false
  }

  #openBlock(index: unknown): Record<string, unknown> {
    assert.ok(this.#isOpen, 'a block is open')
    assert.equal(index, this.#content.length - 1, 'the event belongs to the open block')
    return this.#content.at(-1)!
  }
}
