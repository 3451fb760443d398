import { createHmac } from 'node:crypto'
import { GatewayError } from '../../errors.ts'
import { isRecord, parseRecord, textOf } from '../../sdk/json.ts'
import { open, seal } from '../../text/sealing.ts'
import type { OpenedTexts } from '../client-protocol.ts'
import type { Keeper } from '../kept-ids.ts'
import { STATE_PREFIX } from '../state.ts'
import { typeOfTool } from './client-tools.ts'
import { newItemId } from './open-items.ts'
import type { Members, UserMessage } from './wire.ts'

/** Begins the encrypted content of a compaction that the gateway has made. */
export const COMPACTION_PREFIX = `${STATE_PREFIX}compaction.`

/** The encrypted content of a compaction: its summary, sealed as kept responses are (docs/decisions/compactions.md). */
export function sealedSummary(summary: string, keeper: Keeper): string {
  const about = Buffer.from(JSON.stringify([keeper.namespace, ...(keeper.credential === undefined ? [] : [keeper.credential])]))
  const place = COMPACTION_PREFIX + about.toString('base64url')
  return `${place}.${seal(Buffer.from(summary), keyOf(keeper), place).toString('base64url')}`
}

/** Who may have sealed a text, but for their account and secret; undefined if it is no compaction of the gateway's. */
export function sealerOf(text: string): Pick<Keeper, 'namespace' | 'credential'> | undefined {
  const [about] = text.slice(COMPACTION_PREFIX.length).split('.')
  const { sealer } = parseRecord(`{"sealer":${Buffer.from(about!, 'base64url')}}`) ?? {}
  if (!text.startsWith(COMPACTION_PREFIX) || !Array.isArray(sealer)) return undefined
  const [namespace, credential] = sealer as readonly unknown[]
  if (typeof namespace !== 'string') return undefined
  return { namespace, ...(typeof credential === 'string' && { credential }) }
}

/** The summary in the encrypted content of a compaction; undefined if this keeper has not sealed it. */
export function summaryIn(text: string, keeper: Keeper): string | undefined {
  const end = text.lastIndexOf('.')
  return open(Buffer.from(text.slice(end + 1), 'base64url'), keyOf(keeper), text.slice(0, end))?.toString()
}

const keyOf = ({ namespace, credential, account, secret }: Keeper): Buffer =>
  createHmac('sha256', secret)
    .update(JSON.stringify(['compactions', namespace, account, credential ?? null]))
    .digest()

/** What a model reads in the place of a compaction. Undefined for a compaction of another service. */
export function summaryMessage({ encrypted_content: content }: Members, opened: OpenedTexts): UserMessage | undefined {
  const summary = opened.get(textOf(content))
  return summary === undefined ? undefined : userMessage(newItemId('msg'), `${INTRODUCTION}\n\n${summary}`)
}

const INTRODUCTION = 'The conversation before this message was replaced by this summary of it, which you have written:'

/** What the model is asked for, as the last message of the conversation. */
const INSTRUCTION = `The conversation has become too long: all of it before this message will be replaced by a summary, which you write now. You go on with the summary alone, so it must be complete by itself:
- what the user wants, with all conditions and preferences that still hold
- what was done and found out, and which decisions were made and why
- the exact names, paths, identifiers, numbers, commands, messages and pieces of text or code that are still needed
- what is unfinished, and the next steps
Call no tools and go on with no task. Answer with the summary only.`

/** A request of the Responses API for the summary of its conversation. */
export function summaryRequest(body: Members): Members {
  const { input, text, tools, tool_choice: _, ...others } = body
  const { format: __, ...style } = isRecord(text) ? text : {}
  // A model whose conversation has calls must know its tools. Those of the vendor are not run.
  const isKnown = (tool: unknown): boolean => isRecord(tool) && (tool.type === 'namespace' || typeOfTool(tool) !== undefined)
  const known = (Array.isArray(tools) ? tools : []).filter(isKnown)
  return {
    ...others,
    input: [...itemsOf(input), { type: 'message', role: 'user', content: INSTRUCTION }],
    ...(Object.keys(style).length > 0 && { text: style }),
    ...(known.length > 0 && { tools: known, tool_choice: 'none' }),
  }
}

/** The request for a summary that a request becomes if its last item asks for a compaction. Throws `GatewayError` (400) if another one does. */
export function asCompaction(body: Members): Members {
  const items = itemsOf(body.input)
  const at = items.findIndex(isTrigger)
  if (at < 0) return body
  if (at < items.length - 1) {
    const detail = 'an item of type `compaction_trigger` must be the last one, and the only one of its type'
    throw new GatewayError('invalid_value', { param: `input[${at}]`, values: { detail } })
  }
  return summaryRequest({ ...body, input: items.slice(0, -1) })
}

/** Whether a request asks for a compaction in place of an answer. */
export function asksForCompaction(call: { member(name: string): unknown; mayInclude(json: string): boolean }): boolean {
  return call.mayInclude('"compaction_trigger"') && itemsOf(call.member('input')).some(isTrigger)
}

const isTrigger = (item: unknown): boolean => isRecord(item) && item.type === 'compaction_trigger'

const itemsOf = (input: unknown): readonly unknown[] =>
  Array.isArray(input) ? input : typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : []

/** The messages of the user, which stand before a compaction in the reply. */
export function userMessages(input: unknown): readonly UserMessage[] {
  const messages = itemsOf(input).filter((item): item is Members => isRecord(item) && (item.type ?? 'message') === 'message')
  return messages
    .filter(({ role }) => role === 'user')
    .map(({ id, content }) => userMessage(textOf(id) || newItemId('msg'), content))
}

const userMessage = (id: string, content: unknown): UserMessage => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'user',
  content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : Array.isArray(content) ? content : [],
})
