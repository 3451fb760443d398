import type { ChatRequest } from 'unified-model-gateway/plugin'
import { type FactsTable, factsOf } from '../anthropic/models.ts'
import { toMessagesRequest } from '../anthropic/request.ts'

/** The version of the Messages API as Vertex AI has it, in the body where Anthropic wants a header. */
const VERSION = 'vertex-2023-10-16'

/**
 * A chat completion request for a Claude, whose name stands in the address. `own`: the operator's facts. Throws `GatewayError` for what
 * cannot be honoured.
 */
export function toClaudeRequest(body: Readonly<ChatRequest>, name: string, own: FactsTable) {
  // Anthropic writes the date of a model after a dash, and so do its replies.
  const model = name.replace('@default', '').replace('@', '-')
  const { request, dropped } = toMessagesRequest(body, { model, facts: factsOf(model, own) })
  const { model: _, ...rest } = request
  return { request: { anthropic_version: VERSION, ...rest }, dropped }
}

/** The method of a Claude's address. */
export function claudeMethod(stream: boolean): string {
  return stream ? 'streamRawPredict' : 'rawPredict'
}
