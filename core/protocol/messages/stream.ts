import type { ChatChunk, ToolCallDelta, Usage } from '../../sdk/api.ts'
import { textOf } from '../../sdk/json.ts'
import type { RepliedCall, ReplyWriter } from '../client-protocol.ts'
import { CallIds, type ReplyParts, ReplySequence } from '../reply-sequence.ts'
import { type ReasoningField, ReplyState, type UpstreamState, writeState } from '../state.ts'
import type { ClientNames } from '../tool-names.ts'
import { estimatedUsage } from '../usage.ts'
import { type ChoiceEnd, emptyMessage, PICTURE, stateBlocks, textBlock, toolBlock, toStop, toToolId } from './reply.ts'
import { toolNamesOf } from './tools.ts'
import { toDeltaUsage } from './usage.ts'
import type { BlockDelta, ReplyBlock, StreamEvent } from './wire.ts'

/** One event as a frame. */
export const frameOf = (event: StreamEvent | { readonly type: 'ping' } | { readonly type: 'error' }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** The block that has begun and not ended. */
type OpenBlock =
  | { readonly kind: 'text' }
  | { readonly kind: 'thinking'; readonly field: ReasoningField }
  | { readonly kind: 'tool'; readonly call: number }

/**
 * Writes chunks as the events of a message: message_start, then per block its start, deltas and stop, then message_delta and message_stop
 * (platform.claude.com, "Streaming messages").
 */
export class MessageStreamWriter implements ReplyWriter {
  readonly #call: RepliedCall
  readonly #sequence: ReplySequence
  readonly #state: ReplyState
  readonly #names: ClientNames
  readonly #ids: CallIds
  #out = ''
  #hasBegun = false
  #index = -1
  #open: OpenBlock | undefined
  #end: ChoiceEnd | undefined
  #isRefused = false
  /** What the upstream says beside the text of its message. */
  #extra: unknown
  #usage: Usage | undefined
  #length = 0

  constructor(call: RepliedCall) {
    this.#call = call
    this.#sequence = new ReplySequence(this.#parts())
    this.#state = new ReplyState(call.owner)
    this.#names = toolNamesOf(call)
    this.#ids = new CallIds(call)
  }

  write(chunk: ChatChunk): string {
    this.#begin(chunk.id)
    this.#usage = chunk.usage ?? this.#usage
    const choice = chunk.choices.find(({ index }) => (index ?? 0) === 0)
    if (choice !== undefined) {
      this.#state.read(choice.delta ?? {})
      this.#sequence.read(choice.delta ?? {})
      this.#extra = choice.delta?.extra_content ?? this.#extra
      if (choice.finish_reason != null) this.#end = choice
    }
    return this.#take()
  }

  end(): string {
    this.#begin('')
    this.#sequence.end()
    this.#close()
    for (const state of this.#state.rest()) this.#tell(state)
    const usage = this.#usage ?? estimatedUsage(this.#call.promptEstimate, this.#length)
    const delta = {
      ...toStop(this.#end, this.#isRefused, this.#call),
      stop_details: null,
      container: null,
    }
    const extra = this.#extra === undefined ? {} : { extra_content: this.#extra }
    this.#send({ type: 'message_delta', delta, usage: toDeltaUsage(usage), ...extra })
    this.#send({ type: 'message_stop' })
    return this.#take()
  }

  /** `id`: of the completion. */
  #begin(id: string): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#send({ type: 'message_start', message: emptyMessage(id, this.#call.model) })
  }

  #parts(): ReplyParts {
    return {
      think: (text, field) => this.#think(field, text),
      text: (text) => this.#text(text),
      refuse: (text) => {
        this.#isRefused = true
        this.#text(text)
      },
      picture: () => this.#text(PICTURE),
      tool: (call, part) => this.#tool(call, part),
    }
  }

  #think(field: ReasoningField, text: string): void {
    if (this.#open?.kind !== 'thinking')
      this.#start({ kind: 'thinking', field }, { type: 'thinking', thinking: '', signature: '' })
    this.#delta({ type: 'thinking_delta', thinking: text }, text)
  }

  #text(text: string): void {
    if (this.#open?.kind !== 'text') this.#start({ kind: 'text' }, textBlock(''))
    this.#delta({ type: 'text_delta', text }, text)
  }

  #tool(call: number, part: ToolCallDelta): void {
    if (this.#open?.kind !== 'tool' || this.#open.call !== call) this.#startTool(call, part)
    const json = textOf(part.function?.arguments)
    if (json !== '') this.#delta({ type: 'input_json_delta', partial_json: json }, json)
  }

  /** The state of the call is the signature of the thinking before it, or a block of its own. */
  #startTool(call: number, { id, function: called }: ToolCallDelta): void {
    const state = this.#state.before(call)
    if (this.#open?.kind === 'thinking') this.#close(state)
    else this.#tell(state)
    this.#start({ kind: 'tool', call }, toolBlock(toToolId(id, this.#ids), this.#names.of(textOf(called?.name))))
  }

  /** A block with a state alone. */
  #tell(state: UpstreamState | undefined): void {
    for (const block of stateBlocks(state)) {
      this.#start(undefined, block)
      this.#send({ type: 'content_block_stop', index: this.#index })
    }
  }

  #start(block: OpenBlock | undefined, content: ReplyBlock): void {
    this.#close()
    this.#open = block
    this.#send({ type: 'content_block_start', index: ++this.#index, content_block: content })
  }

  #delta(delta: BlockDelta, text: string): void {
    this.#length += text.length
    this.#send({ type: 'content_block_delta', index: this.#index, delta })
  }

  /** Ends the open block. `state`: of the tool call that follows thinking. */
  #close(state: UpstreamState = {}): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    if (open.kind === 'thinking') {
      const signature = writeState({ ...state, ...this.#state.ofThoughts(open.field) })
      this.#send({ type: 'content_block_delta', index: this.#index, delta: { type: 'signature_delta', signature } })
    }
    this.#send({ type: 'content_block_stop', index: this.#index })
  }

  #send(event: StreamEvent): void {
    this.#out += frameOf(event)
  }

  #take(): string {
    const out = this.#out
    this.#out = ''
    return out
  }
}
