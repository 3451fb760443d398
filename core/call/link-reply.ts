import { ContractViolation, violationBy } from '../plugins/faults.ts'
import { CONVERSATIONS, type ReplyWriter } from '../protocol/client-protocol.ts'
import { ownKeeper } from '../protocol/kept-ids.ts'
import { frame } from '../protocol/sse.ts'
import { translationOf } from '../protocol/translation.ts'
import type { ChatChunk, ChatCompletion } from '../sdk/api.ts'
import { hasChoices, transformChunk, transformCompletion } from '../upstream/readers/reader.ts'
import type { CallLinks, Exchange, LinkReply } from './exchange.ts'
import { relayFrames } from './relay-frames.ts'
import { requirePrincipal } from './serve.ts'

/**
 * Sends a link's reply to the client, through the same transforms and relay as an upstream's. Resolves when the head may be sent.
 * The link may run before auth: the reply still requires a principal that may call the model.
 */
export async function sendLinkReply(exchange: Exchange): Promise<void> {
  const { reply: linkReply, transforms } = exchange.links!
  if (linkReply === undefined) throw new ContractViolation('NO_NEXT_NO_REPLY')
  const principal = requirePrincipal(exchange)
  const call = await exchange.call()
  // Its client may have left while the link ran: a settled hook keeps the body of its call.
  exchange.signal.throwIfAborted()
  exchange.decide()
  exchange.generation!.table.route(call.model, principal)
  const { link, reply } = linkReply
  try {
    const replies = translationOf(call)?.repliesTo(call, ownKeeper(principal.account))
    const isChat = CONVERSATIONS.has(call.endpoint)
    if (reply == null || isChunks(reply) !== call.stream || (isChunks(reply) ? !isChat : isChat && !hasChoices(reply)))
      throw violationBy(reply, 'REPLY_OF_OTHER_KIND')
    if (isChunks(reply)) {
      const writer = replies?.writer() ?? AS_THEY_ARE
      const chunks = link.itemsInside(reply)
      await sendChunks(exchange, link.name, { chunks: call.includeUsage ? chunks : withoutUsage(chunks), writer })
    } else {
      const encode = isChat && replies ? (completion: ChatCompletion) => replies.reply(completion) : undefined
      const body = transformCompletion(copy(reply, transforms), transforms, encode)
      exchange.answer({ kind: 'whole', body })
    }
  } catch (thrown) {
    throw exchange.linkError(link.name, 'reply', thrown)
  }
}

type Chunks = Iterable<ChatChunk> | AsyncIterable<ChatChunk>

const isChunks = (reply: LinkReply['reply']): reply is Chunks => Symbol.iterator in reply || Symbol.asyncIterator in reply

/** The chunks of a link, for a client of chat completions. */
const AS_THEY_ARE: ReplyWriter = { write: (chunk) => frame(JSON.stringify(chunk)), end: () => 'data: [DONE]\n\n' }

/** A link's stream, and how the client gets it. */
interface LinkStream {
  readonly chunks: Chunks
  readonly writer: ReplyWriter
}

/** Resolves when the stream's head may be sent. */
async function sendChunks(exchange: Exchange, link: string, stream: LinkStream): Promise<void> {
  const relay = exchange.openStream()
  const sent = relayFrames(relay, exchange.signal, framesOf(exchange, stream)).catch((thrown: unknown) => {
    const error = exchange.linkError(link, 'reply', thrown)
    exchange.fail(error)
    throw error
  })
  await Promise.race([relay.headDue, sent])
}

async function* framesOf(exchange: Exchange, { chunks, writer }: LinkStream): AsyncGenerator<string> {
  const { transforms } = exchange.links!
  for await (const chunk of chunks) {
    if (!hasChoices(chunk)) throw violationBy(chunk, 'REPLY_OF_OTHER_KIND')
    const frames = [...transformChunk(copy(chunk, transforms), transforms, writer)].join('')
    if (frames !== '') yield frames
  }
  yield writer.end()
}

/** A link may reuse the object that it sends, and the transforms of outer links may change it. */
const copy = <Part>(part: Part, transforms: CallLinks['transforms']): Part =>
  transforms.length > 0 ? structuredClone(part) : part

/** Only clients that request the usage chunk get it. */
async function* withoutUsage(chunks: Chunks): AsyncGenerator<ChatChunk> {
  for await (const chunk of chunks) if (chunk.choices.length > 0 || chunk.usage == null) yield chunk
}
