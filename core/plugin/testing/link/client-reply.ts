import type { ChatChunk, ChatCompletion } from '../../api.ts'
import { readText } from '../read-text.ts'

/** The error that a client reads: in the reply of a call that failed, or in the last frame of a stream that broke. */
export interface ClientError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** A reply, as a client has it. */
export interface ClientReply {
  /** Undefined where the client left before it had one. */
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** All that came of the body. */
  readonly text: string
  /** Of a whole reply. */
  readonly completion?: ChatCompletion
  /** Of a stream: all that came of it. */
  readonly chunks?: readonly ChatChunk[]
  /** Whether a stream came to its `[DONE]`. */
  readonly done: boolean
  readonly error?: ClientError
}

/** Reads a reply as far as it goes. */
export async function readReply(replying: Promise<Response>): Promise<ClientReply> {
  const reply = await replying.catch(() => undefined)
  if (reply === undefined) return { status: undefined, headers: {}, text: '', done: false }
  const text = await readText(reply)
  const head = { status: reply.status, headers: Object.fromEntries(reply.headers), text }
  return { ...head, ...(/^text\/event-stream/.test(head.headers['content-type'] ?? '') ? readFrames(text) : readJson(text)) }
}

function readFrames(text: string): Pick<ClientReply, 'chunks' | 'done' | 'error'> {
  const data = text.split('\n\n').flatMap((frame) => (frame.startsWith('data: ') ? [frame.slice('data: '.length)] : []))
  const events = data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one))
  const { error } = events.find((one) => 'error' in one) ?? {}
  return { chunks: events.filter((one) => !('error' in one)), done: data.at(-1) === '[DONE]', ...(error && { error }) }
}

function readJson(text: string): Pick<ClientReply, 'completion' | 'done' | 'error'> {
  const body = text.startsWith('{') ? JSON.parse(text) : {}
  return { done: false, ...(body.error && { error: body.error }), ...(body.choices && { completion: body }) }
}
