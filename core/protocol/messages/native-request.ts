import { isRecord } from '../../sdk/json.ts'
import { unsupportedParameter } from '../../sdk/parameters.ts'
import type { CleanedBody } from '../client-protocol.ts'
import { readState, STATE_PREFIX } from '../state.ts'
import { blocksOf } from './content.ts'
import type { Block, MessageParam } from './wire.ts'

/** Texts of a body that may not reach Anthropic as it is: the state of another upstream, and members that choose another model. */
export const SUSPICIOUS = [`"${STATE_PREFIX}`, '"fallbacks"', '"advisor_'] as const

/**
 * Removes the thinking that another upstream signed: Anthropic answers 400 to it. Throws `GatewayError` (400) for members that choose a
 * model which the client's key may not call.
 */
export function cleaned(body: Readonly<Record<string, unknown>>): CleanedBody {
  if (body.fallbacks != null) throw unsupportedParameter('fallbacks', 'The operator configures which model follows another.')
  const tools: readonly unknown[] = Array.isArray(body.tools) ? body.tools : []
  for (const [index, tool] of tools.entries()) {
    if (isRecord(tool) && tool.model != null) {
      throw unsupportedParameter(`tools[${index}].model`, 'A tool cannot call another model through the gateway.')
    }
  }
  const turns = body.messages as readonly MessageParam[]
  const messages = turns.map(withoutForeignThinking).filter(({ content }) => content.length > 0)
  if (messages.length === turns.length && messages.every((message, index) => message === turns[index])) return UNCHANGED
  const isOff = beganWithoutThinking(messages) && isBudgeted(body)
  return { changes: { messages, ...(isOff && { thinking: undefined }) }, dropped: isOff ? ['thinking'] : [] }
}

const UNCHANGED: CleanedBody = { changes: {}, dropped: [] }

function withoutForeignThinking(turn: MessageParam): MessageParam {
  const { content } = turn
  if (typeof content === 'string' || !content.some(isForeign)) return turn
  return { ...turn, content: content.filter((block) => !isForeign(block)) }
}

const isForeign = ({ type, signature, data }: Block): boolean =>
  (type === 'thinking' && readState(signature) !== undefined) || (type === 'redacted_thinking' && readState(data) !== undefined)

/** Within a tool step, Anthropic requires the thinking that began it. */
function beganWithoutThinking(messages: readonly MessageParam[]): boolean {
  const [first] = blocksOf(messages.at(-1)?.content)
  const [before] = blocksOf(messages.at(-2)?.content)
  return first?.type === 'tool_result' && before?.type !== 'thinking' && before?.type !== 'redacted_thinking'
}

const isBudgeted = ({ thinking }: Readonly<Record<string, unknown>>): boolean => isRecord(thinking) && thinking.type === 'enabled'
