import {
  argumentsOf,
  type ChatMessage,
  type FunctionToolCall,
  type MessageVisitor,
  walkMessages,
} from 'unified-model-gateway/plugin'
import { toContent, toText } from './content.ts'
import type { Message, ToolCall } from './wire.ts'

/** OpenAI's messages as Ollama's, one for one. Throws `GatewayError` for what Ollama cannot take. */
export function toMessages(messages: readonly ChatMessage[]): readonly Message[] {
  const draft = new Draft()
  walkMessages(messages, draft)
  return draft.messages
}

class Draft implements MessageVisitor {
  readonly messages: Message[] = []
  /** The names of the tools that were called, by the ids of the calls. */
  readonly #called = new Map<string, string>()

  system(message: ChatMessage, path: string): void {
    this.messages.push({ role: 'system', content: toText(message.content, `${path}.content`) })
  }

  user(message: ChatMessage, path: string): void {
    this.messages.push({ role: 'user', ...toContent(message.content, `${path}.content`) })
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): void {
    for (const { id, function: tool } of calls) this.#called.set(id, tool.name)
    const texts = [toText(message.content, `${path}.content`), message.refusal ?? ''].filter((text) => text !== '')
    this.messages.push({
      role: 'assistant',
      content: texts.join('\n'),
      ...(message.reasoning_content && { thinking: message.reasoning_content }),
      ...(calls.length > 0 && { tool_calls: calls.map(toToolCall) }),
    })
  }

  /** Models are told results by the names of tools, and not by ids of calls. */
  tool(message: ChatMessage, path: string): void {
    const id = message.tool_call_id ?? ''
    const name = this.#called.get(id)
    this.messages.push({
      role: 'tool',
      content: toText(message.content, `${path}.content`),
      ...(name !== undefined && { tool_name: name }),
      ...(id && { tool_call_id: id }),
    })
  }
}

function toToolCall(call: FunctionToolCall): ToolCall {
  return { ...(call.id && { id: call.id }), function: { name: call.function.name, arguments: argumentsOf(call) } }
}
