import type { ChatMessage, ContentPart, FunctionToolCall } from '../../sdk/api.ts'
import { isRecord, textOf } from '../../sdk/json.ts'
import { AssistantTurn } from '../assistant-turn.ts'
import { plainest } from '../fit-chat.ts'
import type { Notes } from '../notes.ts'
import { readState } from '../state.ts'
import { toToolResult } from '../tool-result.ts'
import { chatNameOf, KINDS, type ToolType, typeOfCall, typeOfOutput } from './client-tools.ts'
import { toParts } from './content.ts'
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
      case 'image_generation_call':
        this.#picture(members, path)
        break
      case 'additional_tools':
        // They are among the tools of the request.
        break
      default:
        this.#tool(members, path)
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

  /** An item of a tool, or one that is not known. */
  #tool(item: Members, path: string): void {
    const called = typeOfCall(item.type)
    const answered = typeOfOutput(item.type)
    if (called !== undefined) this.#begin().call(toCall(item, called))
    else if (answered !== undefined) this.#output(item, answered, path)
    else if (isLeftOut(item)) this.#notes.drop(`input.${textOf(item.type) || 'item_reference'}`)
    else {
      const missing = isReference(item) ? ({ row: 'item_not_found', id: item.id } as const) : undefined
      this.#notes.refuse(missing ? `${path}.id` : path, whyNot(item), missing)
      // Links see it there.
      this.add({ role: 'user', content: [item as unknown as ContentPart] })
    }
  }

  #output(item: Members, type: ToolType, path: string): void {
    const id = idOf(item)
    if (typeof id !== 'string') this.#notes.refuse(`${path}.call_id`, 'Name the call that the output belongs to.')
    const { texts, files } = toToolResult(textOf(id), toParts(KINDS[type].toContent(item), `${path}.output`, this.#notes))
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

const toCall = (item: Members, type: ToolType): FunctionToolCall => ({
  id: textOf(idOf(item)),
  type: 'function',
  function: { name: chatNameOf(type, item), arguments: KINDS[type].toArguments(item) },
})

/** Outputs of `local_shell` name their call by its `id` (openai-node 7.55, `LocalShellCallOutput`). */
const idOf = ({ call_id: call, id }: Members): unknown => call ?? id

/**
 * What only OpenAI can read, and what its tools did before the answer that follows: a conversation goes on without them. `compaction`: the
 * messages of the user stand beside it.
 */
const LEFT_OUT: ReadonlySet<unknown> = new Set([
  'code_interpreter_call',
  'compaction',
  'file_search_call',
  'image_generation_call',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'mcp_list_tools',
  'program',
  'program_output',
  'web_search_call',
])

/** A reference to reasoning is one by its id (openai-node 7.55: `rs_…`). */
const isLeftOut = (item: Members): boolean => LEFT_OUT.has(item.type) || (isReference(item) && textOf(item.id).startsWith('rs_'))

const isReference = ({ type }: Members): boolean => (type ?? 'item_reference') === 'item_reference'

const whyNot = ({ type }: Members): string =>
  `Only an upstream with OpenAI's Responses API takes items of type '${textOf(type) || 'item_reference'}'.`
