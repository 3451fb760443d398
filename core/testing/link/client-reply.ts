import type { ChatChunk, ChatCompletion, EndpointName } from '../../sdk/api.ts'
import { isRecord, parseRecord, textOf } from '../../sdk/json.ts'
import { readMessageStream } from '../conformance/read-messages.ts'
import { readResponseStream } from '../conformance/read-responses.ts'
import { readText } from '../gateway/read-text.ts'
import { gather } from '../translator/gather.ts'
import type { Said } from '../upstream/openai-reply.ts'

/** The error of a failed call: from its reply, or from the last frame of a broken stream. */
export interface ClientError {
  readonly message: string
  readonly type: string
  /** Null also if the endpoint's errors have none, as those of Messages. */
  readonly param: string | null
  readonly code: string | null
}

/** A reply as the client reads it. */
export interface ClientReply {
  /** Undefined if the client disconnected before the reply. */
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** The body, as far as it was received. */
  readonly text: string
  /** The body of a whole reply, if it is JSON. */
  readonly json?: Readonly<Record<string, unknown>>
  /** Present for a whole chat completion. */
  readonly completion?: ChatCompletion
  /** Present for a stream of chat completions: the chunks received. */
  readonly chunks?: readonly ChatChunk[]
  /** Present for any stream: the events received, without errors. */
  readonly events?: readonly Readonly<Record<string, unknown>>[]
  /**
   * What the model says in a complete reply, whole or streamed, at an endpoint at which models write: chat completions, completions, Messages,
   * Responses. It is the same for the same reply at each of them. Without usage, which the call's `outcome` has.
   */
  readonly said?: Said
  /** Whether a stream is complete: it ends as those of its endpoint do. */
  readonly done: boolean
  readonly error?: ClientError
}

type Members = Readonly<Record<string, unknown>>

/** Reads a reply to its end, or until it breaks off. Throws an `AssertionError` for a stream that breaks a rule of Messages or Responses. */
export async function readReply(endpoint: EndpointName, replying: Promise<Response>): Promise<ClientReply> {
  const reply = await replying.catch(() => undefined)
  if (reply === undefined) return { status: undefined, headers: {}, text: '', done: false }
  const text = await readText(reply)
  const head = { status: reply.status, headers: Object.fromEntries(reply.headers), text }
  const isStream = /^text\/event-stream/.test(head.headers['content-type'] ?? '')
  return { ...head, ...(isStream ? readStream(endpoint, text) : readWhole(endpoint, text)) }
}

function readWhole(endpoint: EndpointName, text: string): Pick<ClientReply, 'json' | 'completion' | 'said' | 'done' | 'error'> {
  const json = parseRecord(text)
  if (json === undefined) return { done: false }
  if (isRecord(json.error)) return { json, done: false, error: errorOf(json.error) }
  const said = WRITERS[endpoint]?.whole(json)
  return {
    json,
    ...(endpoint === 'chat.completions' && { completion: json as unknown as ChatCompletion }),
    ...(said && { said }),
    done: false,
  }
}

function readStream(endpoint: EndpointName, text: string): Pick<ClientReply, 'chunks' | 'events' | 'said' | 'done' | 'error'> {
  const data = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, one]) => one!)
  const all = data.map(parseRecord).filter((event) => event !== undefined)
  const failed = all.find((event) => event.error != null || event.type === 'error')
  const events = all.filter((event) => event !== failed)
  const done = failed === undefined && (LAST[endpoint] ?? ENDS).test(textOf(all.at(-1)?.type) || (data.at(-1) ?? ''))
  const said = done ? WRITERS[endpoint]?.stream(text, events) : undefined
  return {
    events,
    ...(endpoint === 'chat.completions' && { chunks: events as unknown as ChatChunk[] }),
    ...(said && { said }),
    done,
    ...(failed && { error: errorOf(isRecord(failed.error) ? failed.error : failed) }),
  }
}

const errorOf = ({ message, type, param, code }: Members): ClientError => ({
  message: textOf(message),
  type: textOf(type),
  param: param == null ? null : String(param),
  code: code == null ? null : String(code),
})

/** How a stream ends: by the type of its last event, or by its data if events have no types. */
const ENDS = /^\[DONE\]$|\.(?:completed|done)$/

/** Of endpoints whose streams have further events with such types. */
const LAST: { readonly [Endpoint in EndpointName]?: RegExp } = {
  messages: /^message_stop$/,
  responses: /^response\.(?:completed|incomplete)$/,
}

/** Reads what a model says in the replies of an endpoint. */
interface Writer {
  whole(reply: Members): Said
  /** `text` of the whole stream, and its events. */
  stream(text: string, events: readonly Members[]): Said
}

/** By endpoint. */
const WRITERS: { readonly [Endpoint in EndpointName]?: Writer } = {
  'chat.completions': {
    whole: (reply) => {
      const [{ message, finish_reason: finish }] = (reply as unknown as ChatCompletion).choices as [ChatCompletion['choices'][0]]
      const { content: text, reasoning_content: reasoning, refusal, tool_calls = [] } = message
      const tools = tool_calls.map(({ function: called }) => ({ name: called?.name, arguments: called?.arguments }))
      return said({ text, reasoning, refusal, tools, finish })
    },
    stream: (_, events) => {
      const [{ content: text, ...choice } = { content: '' }] = gather(events as unknown as ChatChunk[]).choices
      return said({ text, ...choice })
    },
  },
  completions: {
    whole: (reply) => completionSaid([reply]),
    stream: (_, events) => completionSaid(events),
  },
  messages: {
    whole: ({ content, stop_reason: stop }) => messageSaid(content as readonly Members[], stop),
    stream: (text) => {
      const { content, stop } = readMessageStream(text)
      return messageSaid(content, stop)
    },
  },
  responses: { whole: responseSaid, stream: (text) => responseSaid(readResponseStream(text).response) },
}

interface Parts {
  readonly text?: string | null
  readonly reasoning?: string | null
  readonly refusal?: string | null
  readonly tools?: readonly { readonly name: string | undefined; readonly arguments: unknown }[]
  readonly finish?: string | null
}

/** The parts that a reply has. */
function said({ text, reasoning, refusal, tools = [], finish }: Parts): Said {
  const called = tools.map(({ name, arguments: json }) => ({
    name: textOf(name),
    arguments: (isRecord(json) ? json : parseRecord(textOf(json))) ?? {},
  }))
  return {
    ...(text && { text }),
    ...(reasoning && { reasoning }),
    ...(refusal && { refusal }),
    ...(called.length > 0 && { tools: called }),
    ...(finish && { finish }),
  } as Said
}

/** Of a text completion, whole or in pieces. */
function completionSaid(pieces: readonly Members[]): Said {
  const choices = pieces.flatMap((piece) => (piece.choices as readonly Members[]).filter(({ index }) => index === 0))
  const finish = choices.map(({ finish_reason: reason }) => textOf(reason)).join('')
  return said({ text: joined(choices, 'text'), finish })
}

/** The finish reason of a message, by its stop reason. */
const STOPS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
}

function messageSaid(content: readonly Members[], stop: unknown): Said {
  const tools = content.flatMap(({ type, name, input }) =>
    type === 'tool_use' ? [{ name: textOf(name), arguments: input }] : [],
  )
  return said({
    text: joined(content, 'text'),
    reasoning: joined(content, 'thinking'),
    tools,
    finish: STOPS[textOf(stop)] ?? null,
  })
}

/** The finish reason of an incomplete response. */
const REASONS: Readonly<Record<string, string>> = { max_output_tokens: 'length', content_filter: 'content_filter' }

function responseSaid({ output, incomplete_details: details }: Members): Said {
  const items = output as readonly Members[]
  const parts = (key: string) => items.flatMap((item) => (item[key] ?? []) as readonly Members[])
  const tools = items.flatMap((item) =>
    item.type === 'function_call' ? [{ name: textOf(item.name), arguments: item.arguments }] : [],
  )
  const reason = isRecord(details) ? REASONS[textOf(details.reason)] : undefined
  return said({
    text: joined(parts('content'), 'text'),
    refusal: joined(parts('content'), 'refusal'),
    reasoning: joined(parts('summary'), 'text'),
    tools,
    finish: reason ?? (tools.length > 0 ? 'tool_calls' : 'stop'),
  })
}

const joined = (parts: readonly Members[], key: string): string => parts.map((part) => textOf(part[key])).join('')
