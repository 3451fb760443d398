import type { ChatChunk, ChatCompletion } from '../../sdk/api.ts'

/** The error of a failed call: from its reply, or from the last frame of a broken stream. */
export interface ClientError {
  readonly message: string
  readonly type: string
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
  /** Present for a whole reply. */
  readonly completion?: ChatCompletion
  /** Present for a stream: the chunks received. */
  readonly chunks?: readonly ChatChunk[]
  /** Whether a stream ended with `[DONE]`. */
  readonly done: boolean
  readonly error?: ClientError
}

/** Reads a reply to its end, or until it breaks off. */
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

/** Reads a body to its end, or until it breaks off or the client disconnects. */
export async function readText(reply: Response): Promise<string> {
  let text = ''
  try {
    for await (const piece of reply.body!.pipeThrough(new TextDecoderStream())) text += piece
  } catch {
    // A broken body is returned as far as it was received.
  }
  return text
}
