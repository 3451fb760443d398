import { randomUUID } from 'node:crypto'
import type { InlineData } from '../../sdk/json.ts'
import { type ReasoningField, type ReplyState, type UpstreamState, writeState } from '../state.ts'
import { type ClientTool, KINDS } from './client-tools.ts'
import type { EventBody, ItemStatus, Logprob, MessagePart, OutputItem, PictureFormat, UrlCitation } from './wire.ts'

/** Sends an event. */
export type Emit = (event: EventBody) => void

/** An item that has begun. */
export interface OpenItem {
  /** Ends the item, and returns it. */
  close(status: ItemStatus): OutputItem
}

/** Where an item stands in its response. */
export interface ItemPlace {
  readonly index: number
  readonly emit: Emit
  newId(prefix: string): string
}

/** An id of an item. */
export const newItemId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`

/** A message: its parts come one after the other. */
export class OpenMessage implements OpenItem {
  readonly #emit: Emit
  readonly #place: { readonly item_id: string; readonly output_index: number }
  readonly #content: MessagePart[] = []
  #part: MessagePart | undefined

  constructor({ index, emit, newId }: ItemPlace) {
    this.#emit = emit
    this.#place = { item_id: newId('msg'), output_index: index }
    emit({ type: 'response.output_item.added', output_index: index, item: this.#item('in_progress') })
  }

  text(delta: string, logprobs: Logprob[]): void {
    let part = this.#part
    if (part?.type !== 'output_text') part = this.#begin({ type: 'output_text', text: '', annotations: [], logprobs: [] })
    this.#part = { ...part, text: part.text + delta }
    part.logprobs.push(...logprobs)
    this.#emit({ type: 'response.output_text.delta', ...this.#at(), delta, logprobs })
  }

  refuse(delta: string): void {
    let part = this.#part
    if (part?.type !== 'refusal') part = this.#begin({ type: 'refusal', refusal: '' })
    this.#part = { ...part, refusal: part.refusal + delta }
    this.#emit({ type: 'response.refusal.delta', ...this.#at(), delta })
  }

  annotate(annotation: UrlCitation): void {
    if (this.#part?.type !== 'output_text') return
    const { annotations } = this.#part
    const event = { type: 'response.output_text.annotation.added' as const, ...this.#at() }
    this.#emit({ ...event, annotation_index: annotations.length, annotation })
    annotations.push(annotation)
  }

  close(status: ItemStatus): OutputItem {
    this.#endPart()
    const item = this.#item(status)
    this.#emit({ type: 'response.output_item.done', output_index: this.#place.output_index, item })
    return item
  }

  #begin<Part extends MessagePart>(part: Part): Part {
    this.#endPart()
    this.#part = part
    // The event shows the empty part, which then grows.
    this.#emit({ type: 'response.content_part.added', ...this.#at(), part: structuredClone(part) })
    return part
  }

  #endPart(): void {
    const part = this.#part
    if (part === undefined) return
    if (part.type === 'refusal') this.#emit({ type: 'response.refusal.done', ...this.#at(), refusal: part.refusal })
    else this.#emit({ type: 'response.output_text.done', ...this.#at(), text: part.text, logprobs: part.logprobs })
    this.#emit({ type: 'response.content_part.done', ...this.#at(), part })
    this.#content.push(part)
    this.#part = undefined
  }

  #at() {
    return { ...this.#place, content_index: this.#content.length }
  }

  #item(status: ItemStatus): OutputItem {
    return { id: this.#place.item_id, type: 'message', status, role: 'assistant', content: [...this.#content] }
  }
}

const FORMATS: readonly PictureFormat[] = ['png', 'jpeg', 'webp', 'gif']

/** A picture that the model has made: complete when it begins. */
export class OpenPicture implements OpenItem {
  readonly #emit: Emit
  readonly #index: number
  readonly #id: string
  readonly #picture: InlineData

  constructor(picture: InlineData, { index, emit, newId }: ItemPlace) {
    this.#emit = emit
    this.#index = index
    this.#id = newId('ig')
    this.#picture = picture
    emit({ type: 'response.output_item.added', output_index: index, item: this.#item('in_progress', null) })
    emit({ type: 'response.image_generation_call.completed', item_id: this.#id, output_index: index })
  }

  close(): OutputItem {
    const item = this.#item('completed', this.#picture.data)
    this.#emit({ type: 'response.output_item.done', output_index: this.#index, item })
    return item
  }

  #item(status: 'in_progress' | 'completed', result: string | null): OutputItem {
    const format = FORMATS.find((name) => this.#picture.mediaType === `image/${name}`) ?? null
    return { id: this.#id, type: 'image_generation_call', status, output_format: format, result }
  }
}

/** Reasoning, with the state of its upstream. */
export class OpenReasoning implements OpenItem {
  readonly #emit: Emit
  readonly #place: { readonly item_id: string; readonly output_index: number }
  readonly #state: ReplyState
  /** Of the call that follows, or of one before. */
  #ofCall: UpstreamState | undefined
  #field: ReasoningField | undefined
  #text = ''

  constructor(state: ReplyState, { index, emit, newId }: ItemPlace) {
    this.#emit = emit
    this.#state = state
    this.#place = { item_id: newId('rs'), output_index: index }
    emit({ type: 'response.output_item.added', output_index: index, item: this.#item('in_progress') })
  }

  think(delta: string, field: ReasoningField): void {
    if (this.#text === '') {
      this.#field = field
      this.#emit({ type: 'response.reasoning_summary_part.added', ...this.#at(), part: { type: 'summary_text', text: '' } })
    }
    this.#text += delta
    this.#emit({ type: 'response.reasoning_summary_text.delta', ...this.#at(), delta })
  }

  /** What the upstream wants back with a call. */
  keep(state: UpstreamState): void {
    this.#ofCall = state
  }

  close(status: ItemStatus): OutputItem {
    const [part] = this.#summary
    if (part !== undefined) {
      this.#emit({ type: 'response.reasoning_summary_text.done', ...this.#at(), text: part.text })
      this.#emit({ type: 'response.reasoning_summary_part.done', ...this.#at(), part })
    }
    const item = this.#item(status)
    this.#emit({ type: 'response.output_item.done', output_index: this.#place.output_index, item })
    return item
  }

  get #summary() {
    return this.#text === '' ? [] : [{ type: 'summary_text' as const, text: this.#text }]
  }

  #at() {
    return { ...this.#place, summary_index: 0 }
  }

  #item(status: ItemStatus): OutputItem {
    const { item_id: id } = this.#place
    const summary = status === 'in_progress' ? [] : this.#summary
    const ofThoughts = this.#field === undefined || status === 'in_progress' ? {} : this.#state.ofThoughts(this.#field)
    return { id, type: 'reasoning', status, summary, encrypted_content: writeState({ ...this.#ofCall, ...ofThoughts }) }
  }
}

/** What is known of a call of a tool when it begins. */
interface CallHead {
  /** Its number in the completion. */
  readonly call: number
  /** The client's; undefined if it needs another one. */
  readonly id: string | undefined
  readonly tool: ClientTool
}

/** A call of a tool. All but the arguments of a function come in one piece: the upstream wraps them in JSON. */
export class OpenCall implements OpenItem {
  /** Its number in the completion. */
  readonly call: number
  readonly #emit: Emit
  readonly #tool: ClientTool
  readonly #place: { readonly item_id: string; readonly output_index: number }
  readonly #callId: string
  #arguments = ''

  constructor({ call, id, tool }: CallHead, { index, emit, newId }: ItemPlace) {
    this.call = call
    this.#emit = emit
    this.#tool = tool
    this.#place = { item_id: newId(KINDS[tool.type].prefix), output_index: index }
    this.#callId = id ?? newItemId('call')
    emit({ type: 'response.output_item.added', output_index: index, item: this.#item('in_progress') })
  }

  add(delta: string): void {
    if (delta === '') return
    this.#arguments += delta
    if (this.#tool.type === 'function') this.#emit({ type: 'response.function_call_arguments.delta', ...this.#place, delta })
  }

  close(status: ItemStatus): OutputItem {
    const item = this.#item(status)
    if (item.type === 'function_call') {
      const { name, arguments: text } = item
      this.#emit({ type: 'response.function_call_arguments.done', ...this.#place, name, arguments: text })
    } else if (item.type === 'custom_tool_call') {
      const { input } = item
      if (input !== '') this.#emit({ type: 'response.custom_tool_call_input.delta', ...this.#place, delta: input })
      this.#emit({ type: 'response.custom_tool_call_input.done', ...this.#place, input })
    }
    this.#emit({ type: 'response.output_item.done', output_index: this.#place.output_index, item })
    return item
  }

  #item(status: ItemStatus): OutputItem {
    const own = { id: this.#place.item_id, status, call_id: this.#callId }
    return KINDS[this.#tool.type].toItem(own, this.#tool, this.#arguments)
  }
}
