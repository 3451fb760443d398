import { GatewayError } from '../errors.ts'
import type { Generation } from '../gateway/generation.ts'
import { Misuse, pluginError } from '../plugins/faults.ts'
import { frame } from '../protocol/sse.ts'
import type { ChatChunk } from '../sdk/api.ts'
import { transformChunk, transformCompletion } from '../upstream/readers/reader.ts'
import type { Exchange, OwnReply } from './exchange.ts'
import { Relay, type RelayTimes } from './relay.ts'

/**
 * Makes the reply that a link gave the reply of the call, through the same transforms and the same relay as an upstream's. Resolves
 * when the head may go out. The link may stand before auth: nobody is served without a principal that may call the model.
 */
export async function takeOwnReply(exchange: Exchange, generation: Generation, times: RelayTimes): Promise<void> {
  const { ownReply, principal } = exchange
  if (ownReply === undefined) throw new Misuse('NO_NEXT_NO_REPLY')
  if (principal === undefined) throw new GatewayError('missing_api_key')
  const call = await exchange.call()
  exchange.seal()
  generation.table.route(call.model, principal)
  const { link, reply } = ownReply
  try {
    const takesChunks = call.stream && call.endpoint === 'chat.completions'
    if (reply == null || isChunks(reply) !== call.stream || isChunks(reply) !== takesChunks)
      throw new Misuse('REPLY_OF_OTHER_KIND')
    if (isChunks(reply)) await stream(exchange, call.includeUsage ? reply : withoutUsage(reply), times)
    else exchange.body = transformCompletion(copy(reply, exchange), exchange.transforms)
  } catch (thrown) {
    throw pluginError(link, 'reply', thrown)
  }
}

type Chunks = Iterable<ChatChunk> | AsyncIterable<ChatChunk>

const isChunks = (reply: OwnReply['reply']): reply is Chunks => Symbol.iterator in reply || Symbol.asyncIterator in reply

function stream(exchange: Exchange, chunks: Chunks, times: RelayTimes): Promise<void> {
  const { link } = exchange.ownReply!
  return new Promise((resolve, reject) => {
    const relay = new Relay(times, { onHead: resolve, onFirstByte: () => exchange.onFirstByte() })
    exchange.relay = relay
    pump(exchange, relay, chunks).catch((thrown: unknown) => {
      const error = pluginError(link, 'reply', thrown)
      exchange.onBroken(error)
      reject(error)
    })
  })
}

async function pump(exchange: Exchange, relay: Relay, chunks: Chunks): Promise<void> {
  let paused: PromiseWithResolvers<void> | undefined
  const source = {
    pause: () => {
      paused ??= Promise.withResolvers()
    },
    resume: () => {
      paused?.resolve()
      paused = undefined
    },
  }
  relay.attach(source, 'utf8')
  exchange.signal.addEventListener('abort', source.resume)
  for await (const chunk of chunks) {
    if (exchange.closed) return
    const sent = transformChunk(copy(chunk, exchange), exchange.transforms)
    if (sent !== undefined) relay.push(frame(JSON.stringify(sent)), true)
    relay.flush()
    await paused?.promise
  }
  relay.end('data: [DONE]\n\n')
}

/** A link may send what it keeps for the next time, and those outside it may change what they are given. */
const copy = <Part>(part: Part, { transforms }: Exchange): Part => (transforms.length > 0 ? structuredClone(part) : part)

/** The usage chunk is only for a client that asked for it. */
async function* withoutUsage(chunks: Chunks): AsyncGenerator<ChatChunk> {
  for await (const chunk of chunks) if (chunk.choices.length > 0 || chunk.usage == null) yield chunk
}
