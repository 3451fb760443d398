import type { ChatMessage, ContentPart, FunctionToolCall } from '../../sdk/api.ts'
import { isRecord, textOf } from '../../sdk/json.ts'
import { AssistantTurn } from '../assistant-turn.ts'
import { plainest } from '../fit-chat.ts'
import type { Notes } from '../notes.ts'
import { readState } from '../state.ts'
import { toToolResult } from '../tool-result.ts'
import { toParts } from './content.ts'
import { chatNameOf, toCustomArguments } from './tools.ts'
import type { Members } from './wire.ts'

/** The instructions and the input of a request as messages of a chat completion. */
export function toChatMessages({ instructions, input }: Members, notes: Notes): ChatMessage[] {
  const conversation = new Conversation(notes)
  if (typeof instructions === 'string' && instructions !== '') conversation.add({ role: 'system', content: instructions })
  if (typeof input === 'string') conversation.add({ role: 'user', content: input })
  else for (const [index, item] of (Array.isArray(input) ? input : []).entries()) conversation.read(item, `input[${index}]`)
  return conversation.end()
}

/** Collects items: those that the model wrote, one after the other, are one message. */
class Conversation {
  readonly #notes: Notes
  readonly #messages: ChatMessage[] = []
  #turn: AssistantTurn | undefined
  /** Images and files in the outputs of tools, for a message of the user after them. */
  #files: ContentPart[] = []

  constructor(notes: Notes) {
    this.#notes = notes
  }

  add(message: ChatMessage): void {
    this.#endTurn()
    if (message.role !== 'tool') this.#endOutputs()
    this.#messages.push(message)
  }

  read(item: unknown, path: string): void {
    const members: Members = isRecord(item) ? item : {}
    switch (members.type ?? (members.role === undefined ? 'item_reference' : 'message')) {
      case 'message':
        this.#message(members, path)
        break
      case 'reasoning':
        this.#reasoning(members)
        break
      case 'function_call':
        this.#begin().call(toCall(members, textOf(members.arguments) || '{}'))
        break
      case 'custom_tool_call':
        this.#begin().call(toCall(members, toCustomArguments(members.input)))
        break
      case 'image_generation_call':
        this.#picture(members, path)
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#output(members, path)
        break
      default:
        this.#notes.refuse(path, whyNot(members))
        // Links see it there.
        this.add({ role: 'user', content: [members as unknown as ContentPart] })
    }
  }

  end(): ChatMessage[] {
    this.#endTurn()
    this.#endOutputs()
    return this.#messages
  }

  /** A picture that the model has made, by its data. Older replies do not say its type. */
  #picture({ result, output_format: format }: Members, path: string): void {
    if (textOf(result) === '') this.#notes.refuse(`${path}.result`, 'Send the picture itself.')
    const url = `data:image/${textOf(format) || 'png'};base64,${textOf(result)}`
    this.#begin().say([{ type: 'image_url', image_url: { url } }])
  }

  #message({ role, content, phase }: Members, path: string): void {
    if (phase != null) this.#notes.drop('input.phase')
    const parts = toParts(content, `${path}.content`, this.#notes)
    if (role === 'assistant') this.#begin().say(parts)
    // Few upstreams know developers.
    else this.add({ role: role === 'system' || role === 'developer' ? 'system' : 'user', content: plainest(parts) })
  }

  #reasoning({ encrypted_content: content, summary }: Members): void {
    const state = readState(content)
    if (state === undefined) {
      this.#notes.drop('input.reasoning')
      return
    }
    const parts: readonly unknown[] = Array.isArray(summary) ? summary : []
    this.#begin().recall(state, parts.map((part) => (isRecord(part) ? textOf(part.text) : '')).join(''))
  }

  #output({ call_id: id, output }: Members, path: string): void {
    if (typeof id !== 'string') this.#notes.refuse(`${path}.call_id`, 'Name the call that the output belongs to.')
    const { texts, files } = toToolResult(textOf(id), toParts(output, `${path}.output`, this.#notes))
    this.add({ role: 'tool', tool_call_id: textOf(id), content: plainest(texts) })
    this.#files.push(...files)
  }

  #begin(): AssistantTurn {
    this.#endOutputs()
    this.#turn ??= new AssistantTurn()
    return this.#turn
  }

  #endTurn(): void {
    const message = this.#turn?.message
    this.#turn = undefined
    // Reasoning alone has no place in a chat completion.
    if (message !== undefined && message.content !== '') this.#messages.push(message)
  }

  #endOutputs(): void {
    if (this.#files.length > 0) this.#messages.push({ role: 'user', content: this.#files })
    this.#files = []
  }
}

const toCall = (item: Members, text: string): FunctionToolCall => ({
  id: textOf(item.call_id),
  type: 'function',
  function: { name: chatNameOf(item), arguments: text },
})

const whyNot = ({ type }: Members): string =>
  type === undefined || type === null || type === 'item_reference'
    ? 'Only the upstream that stored an item can look it up: send the item itself.'
    : `Only an upstream with OpenAI's Responses API takes items of type '${textOf(type)}'.`
