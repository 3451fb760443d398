import assert from 'node:assert/strict'
import { readFrames } from './read-frames.ts'

type Members = Readonly<Record<string, unknown>>

/** An item of a response. */
export interface ReadItem extends Members {
  readonly type: string
}

/** A response, whole or assembled from a stream. */
export interface ReadResponse {
  readonly output: readonly ReadItem[]
  readonly status: unknown
  readonly usage: Members
  readonly response: Members
  /** The event `error` that ended the stream; undefined after response.completed or response.incomplete. */
  readonly error?: Members
}

/** The members that every event of a type must have, in addition to its type and number ("Streaming events", developers.openai.com). */
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  'response.created': ['response'],
  'response.in_progress': ['response'],
  'response.completed': ['response'],
  'response.incomplete': ['response'],
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': ['item_id', 'output_index', 'content_index', 'part'],
  'response.content_part.done': ['item_id', 'output_index', 'content_index', 'part'],
  'response.output_text.delta': ['item_id', 'output_index', 'content_index', 'delta', 'logprobs'],
  'response.output_text.done': ['item_id', 'output_index', 'content_index', 'text', 'logprobs'],
  'response.output_text.annotation.added': ['item_id', 'output_index', 'content_index', 'annotation_index', 'annotation'],
  'response.image_generation_call.completed': ['item_id', 'output_index'],
  'response.refusal.delta': ['item_id', 'output_index', 'content_index', 'delta'],
  'response.refusal.done': ['item_id', 'output_index', 'content_index', 'refusal'],
  'response.reasoning_summary_part.added': ['item_id', 'output_index', 'summary_index', 'part'],
  'response.reasoning_summary_part.done': ['item_id', 'output_index', 'summary_index', 'part'],
  'response.reasoning_summary_text.delta': ['item_id', 'output_index', 'summary_index', 'delta'],
  'response.reasoning_summary_text.done': ['item_id', 'output_index', 'summary_index', 'text'],
  'response.function_call_arguments.delta': ['item_id', 'output_index', 'delta'],
  'response.function_call_arguments.done': ['item_id', 'output_index', 'arguments'],
  'response.custom_tool_call_input.delta': ['item_id', 'output_index', 'delta'],
  'response.custom_tool_call_input.done': ['item_id', 'output_index', 'input'],
  error: ['code', 'message', 'param'],
}

/**
 * Reads a stream as a client of the Responses API receives it. Throws an `AssertionError` if it breaks a rule of the published schema: events
 * numbered from 0; response.created and response.in_progress; then items one after the other, each assembled from its pieces exactly as its end
 * says; then response.completed or response.incomplete with these items, or an error instead of the rest.
 */
export function readResponseStream(text: string): ReadResponse {
  const reader = new StreamReader()
  for (const event of readFrames(text)) reader.read(event)
  return reader.end()
}

/** The part of an item that is being written. */
interface OpenPart {
  readonly index: unknown
  /** What its deltas add up to. */
  text: string
  isDone: boolean
}

/** The type of an item with a picture. */
const PICTURE = 'image_generation_call'

class StreamReader {
  #number = 0
  #state: 'start' | 'created' | 'items' | 'over' = 'start'
  readonly #output: ReadItem[] = []
  #item: ReadItem | undefined
  readonly #parts: Members[] = []
  #part: OpenPart | undefined
  #annotations: unknown[] = []
  #last: Members = {}
  #error: Members | undefined

  read(event: Members): void {
    const { type, sequence_number: number } = event
    assert.notEqual(this.#state, 'over', `nothing follows the end: ${JSON.stringify(event)}`)
    assert.equal(number, this.#number++, `events are numbered from 0: ${JSON.stringify(event)}`)
    const members = EVENTS[String(type)]
    assert.ok(members !== undefined, `no such event: ${type}`)
    for (const member of members) assert.ok(member in event, `${type} has ${member}: ${JSON.stringify(event)}`)
    this.#step(String(type), event)
  }

  end(): ReadResponse {
    assert.equal(this.#state, 'over', 'a stream ends with its response or an error')
    const { status, usage } = this.#last
    const read = { output: this.#output, status, usage: (usage ?? {}) as Members, response: this.#last }
    return this.#error === undefined ? read : { ...read, error: this.#error }
  }

  #step(type: string, event: Members): void {
    if (type === 'error') {
      this.#error = event
      this.#state = 'over'
    } else if (this.#state === 'start') this.#begin(type, 'response.created', 'created', event)
    else if (this.#state === 'created') this.#begin(type, 'response.in_progress', 'items', event)
    else if (type === 'response.completed' || type === 'response.incomplete') this.#finish(type, event.response as Members)
    else if (type === 'response.output_item.added') this.#beginItem(event)
    else this.#continueItem(type, event)
  }

  #continueItem(type: string, event: Members): void {
    assert.ok(this.#item, `an item is open: ${JSON.stringify(event)}`)
    assert.equal(event.output_index, this.#output.length, 'the event belongs to the open item')
    if (type === 'response.output_item.done') {
      this.#endItem(event.item as ReadItem)
      return
    }
    assert.equal(event.item_id, this.#item.id)
    this.#piece(type.slice('response.'.length), event)
  }

  #begin(type: string, expected: string, next: 'created' | 'items', { response }: Members): void {
    assert.equal(type, expected, `${expected} comes first`)
    const { object, status, output, error } = response as Members
    assert.deepEqual({ object, status, output, error }, { object: 'response', status: 'in_progress', output: [], error: null })
    this.#state = next
  }

  #finish(type: string, response: Members): void {
    assert.equal(this.#item, undefined, 'the response ends after its items')
    assert.equal(`response.${response.status}`, type)
    assert.equal(response.incomplete_details === null, type === 'response.completed')
    assert.deepEqual(response.output, this.#output, 'the response has the items of the stream')
    this.#last = response
    this.#state = 'over'
  }

  #beginItem({ output_index: index, item }: Members): void {
    assert.equal(this.#item, undefined, 'items do not overlap')
    assert.equal(index, this.#output.length, 'items are numbered from 0')
    this.#item = item as ReadItem
    this.#parts.length = 0
    this.#part = undefined
    const { type, status, content, summary, arguments: text, input } = this.#item
    assert.equal(status, 'in_progress')
    if (type === PICTURE) {
      assert.equal(this.#item.result, null, 'a picture comes with the end of its item')
      return
    }
    const empty = { message: content, reasoning: summary, function_call: text, custom_tool_call: input }[type]
    assert.ok(empty === '' || (Array.isArray(empty) && empty.length === 0), `an item begins empty: ${JSON.stringify(item)}`)
    if (type.endsWith('_call')) this.#part = { index: undefined, text: '', isDone: false }
  }

  #endItem(item: ReadItem): void {
    const { id, type } = this.#item!
    assert.deepEqual([item.id, item.type], [id, type])
    assert.ok(item.status === 'completed' || item.status === 'incomplete', `the status of ${JSON.stringify(item)}`)
    if (type === 'message') assert.deepEqual(item.content, this.#parts)
    else if (type === 'reasoning') assert.deepEqual(item.summary, this.#parts)
    else if (type === PICTURE) assert.equal(typeof item.result, 'string')
    else assert.equal(item.arguments ?? item.input, this.#part!.text)
    assert.ok(this.#part === undefined || this.#part.isDone, 'a part ends before its item')
    this.#output.push(item)
    this.#item = undefined
  }

  #piece(type: string, event: Members): void {
    if (type === `${PICTURE}.completed`) assert.equal(this.#item!.type, PICTURE)
    else if (/_part\.added$/.test(type)) this.#beginPart(event)
    else if (/_part\.done$/.test(type)) this.#endPart(event)
    else if (type === 'output_text.annotation.added') {
      assert.equal(event.annotation_index, this.#annotations.length)
      this.#annotations.push(event.annotation)
    } else this.#extend(type, event)
  }

  #beginPart({ content_index: content, summary_index: summary, part }: Members): void {
    assert.equal(this.#part, undefined, 'parts do not overlap')
    assert.equal(content ?? summary, this.#parts.length, 'parts are numbered from 0')
    const { text, refusal } = part as Members
    assert.equal(text ?? refusal, '', 'a part begins empty')
    this.#part = { index: this.#parts.length, text: '', isDone: false }
    this.#annotations = []
  }

  #endPart({ part }: Members): void {
    assert.ok(this.#part?.isDone, 'the text of a part ends before the part')
    const { text, refusal, annotations = [] } = part as Members
    assert.equal(text ?? refusal, this.#part.text)
    assert.deepEqual(annotations, this.#annotations)
    this.#parts.push(part as Members)
    this.#part = undefined
  }

  #extend(type: string, event: Members): void {
    const part = this.#part
    assert.ok(part !== undefined && !part.isDone, `a part is open: ${JSON.stringify(event)}`)
    assert.equal(event.content_index ?? event.summary_index, part.index)
    if (type.endsWith('.delta')) part.text += String(event.delta)
    else {
      assert.equal(event.text ?? event.refusal ?? event.arguments ?? event.input, part.text, 'the end repeats all of the text')
      part.isDone = true
    }
  }
}
