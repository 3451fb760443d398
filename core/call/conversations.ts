import type { ParameterizedContext } from 'koa'
import { GatewayError } from '../errors.ts'
import { type Conversation, type ConversationItem, KeptConversations, shownItem } from '../kept/kept-conversations.ts'
import type { Item } from '../kept/turn.ts'
import type { PlainEndpointName } from '../protocol/endpoints/plain-endpoints.ts'
import { scanObject } from '../protocol/json.ts'
import { LARGE } from '../protocol/json-body.ts'
import { RESPONSES_WIRE } from '../protocol/responses/endpoint.ts'
import { itemList } from '../protocol/responses/item-list.ts'
import { checkOf, type RequestCheck } from '../protocol/validation.ts'
import { parseRecord } from '../sdk/api.ts'
import type { BodyServices } from './body.ts'
import type { Exchange } from './exchange.ts'
import type { KeptEndpoint } from './kept-responses.ts'
import { readBody } from './read-body.ts'
import type { RequestLimit } from './request-limit.ts'
import { requirePrincipal } from './serve.ts'

/** A request at a conversation. */
interface Asked {
  readonly conversations: KeptConversations
  readonly params: { readonly id: string; readonly item: string }
  readonly query: ParameterizedContext['query']
  /** The body. */
  read(check: RequestCheck): Promise<Item>
}

/** The most items that a request adds (openai-node 7.55, `ConversationCreateParams`). */
const MOST_ITEMS = 20

const items = { type: ['array', 'null'], maxItems: MOST_ITEMS, items: { type: 'object' } }
/** openai-node 7.55, `Metadata`. */
const metadata = {
  type: ['object', 'null'],
  maxProperties: 16,
  propertyNames: { maxLength: 64 },
  additionalProperties: { type: 'string', maxLength: 512 },
}

const checkCreated = checkOf({ type: 'object', properties: { items, metadata } })
const checkUpdated = checkOf({ type: 'object', required: ['metadata'], properties: { metadata } })
const checkAdded = checkOf({
  type: 'object',
  required: ['items'],
  properties: { items: { ...items, type: 'array', minItems: 1 } },
})

/** The endpoints of conversations, each with its reply. */
const REPLIES: Readonly<Partial<Record<PlainEndpointName, (asked: Asked) => Promise<object>>>> = {
  async 'conversations.create'({ conversations, read }) {
    const body = await read(checkCreated)
    return toObject(await conversations.create((body.metadata ?? {}) as Item, (body.items ?? []) as readonly Item[]))
  },
  async 'conversations.retrieve'({ conversations, params }) {
    return toObject(await conversations.get(params.id))
  },
  async 'conversations.update'({ conversations, params, read }) {
    const body = await read(checkUpdated)
    return toObject(await conversations.update(await conversations.get(params.id), (body.metadata ?? {}) as Item))
  },
  async 'conversations.delete'({ conversations, params: { id } }) {
    await conversations.delete(await conversations.get(id))
    return { id, object: 'conversation.deleted', deleted: true }
  },
  async 'conversations.items.create'({ conversations, params, read }) {
    const body = await read(checkAdded)
    const added = await conversations.append(await conversations.get(params.id), body.items as readonly Item[])
    return itemList(added.map(shownItem), { order: 'asc' })
  },
  async 'conversations.items.list'({ conversations, params, query }) {
    const { items } = await conversations.get(params.id)
    return itemList(items.map(shownItem), query)
  },
  async 'conversations.items.retrieve'({ conversations, params }) {
    return shownItem(itemOf(await conversations.get(params.id), params.item))
  },
  async 'conversations.items.delete'({ conversations, params }) {
    const conversation = await conversations.get(params.id)
    await conversations.remove(conversation, itemOf(conversation, params.item))
    return toObject(conversation)
  },
}

const toObject = ({ id, createdAt, metadata }: Conversation): object => ({
  id,
  object: 'conversation',
  created_at: createdAt,
  metadata,
})

function itemOf({ items }: Conversation, id: string): ConversationItem {
  const found = items.find((each) => each.id === id)
  if (found === undefined) throw new GatewayError('conversation_item_not_found', { values: { id: id.slice(0, 200) } })
  return found
}

/** The endpoints of the conversations that the gateway keeps. */
export function conversationEndpoints(services: BodyServices, requests: RequestLimit): readonly KeptEndpoint[] {
  return Object.entries(REPLIES).map(([key, reply]) => {
    const name = key as PlainEndpointName
    return {
      name,
      endpoint: {
        name,
        check: 'no body',
        wire: RESPONSES_WIRE,
        async serve(exchange, ctx) {
          const principal = requirePrincipal(exchange)
          requests.take(principal.account)
          const conversations = KeptConversations.of(principal, exchange.generation!.keeping, services)
          if (conversations === undefined) throw new GatewayError('conversations_not_kept')
          const { params, query } = ctx as ParameterizedContext & Pick<Asked, 'params'>
          const read: Asked['read'] = (check) => readObject(exchange, ctx, services, check)
          const body = await reply({ conversations, params, query, read })
          exchange.answer({ kind: 'whole', body: Buffer.from(JSON.stringify(body)) })
        },
      },
    }
  })
}

/** Reads a body of one megabyte at most. Throws `GatewayError` (4xx) for one that is not acceptable. */
async function readObject(
  exchange: Exchange,
  ctx: ParameterizedContext,
  { admission }: BodyServices,
  check: RequestCheck,
): Promise<Item> {
  const memory = admission.memoryFor(exchange.principal?.keyId ?? '')
  try {
    const bytes = await readBody(ctx.req, ctx.res, { max: LARGE.bytes, memory })
    if (bytes.length === 0) return {}
    if (!isAcceptable(bytes)) throw new GatewayError('invalid_json')
    const body = parseRecord(bytes.toString())
    if (body === undefined) throw new GatewayError('invalid_json')
    check(body)
    return body
  } finally {
    memory.release()
  }
}

/** Whether it is an object that may be parsed: neither too deep nor of too many parts. */
function isAcceptable(bytes: Buffer): boolean {
  try {
    scanObject(bytes)
    return true
  } catch {
    return false
  }
}
