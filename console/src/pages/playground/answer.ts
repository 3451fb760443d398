import { createParser } from 'eventsource-parser'

/** A reply as far as it was received. Times are milliseconds since the request was sent. */
export interface Answer {
  readonly text: string
  readonly reasoning: string
  /** The reply's bytes as text. */
  readonly raw: string
  readonly finish?: string
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number }
  /** The message of an error. */
  readonly error?: string
  readonly status?: number
  readonly requestId?: string
  /** The target, `<namespace>/<model>`. */
  readonly servedBy?: string
  readonly firstByteMs?: number
  readonly totalMs?: number
}

/** The error of a reply that the user stopped. */
export const STOPPED = 'Stopped.'

/** Before the first byte. */
export const NO_ANSWER: Answer = { text: '', reasoning: '', raw: '' }

/** The parts of a completion, or of a chunk, that the page shows. */
interface Reply {
  readonly choices?: readonly {
    readonly message?: Content
    readonly delta?: Content
    readonly finish_reason?: string | null
  }[]
  readonly usage?: Answer['usage'] | null
  readonly error?: { readonly message?: string }
}

interface Content {
  readonly content?: string | null
  readonly reasoning_content?: string | null
  readonly reasoning?: string | null
  readonly refusal?: string | null
}

/** Adds a completion, a chunk or an error event to a reply. */
export function add(answer: Answer, { choices = [], usage, error }: Reply): Answer {
  const [choice] = choices
  const { content, refusal, reasoning_content, reasoning } = choice?.delta ?? choice?.message ?? {}
  return {
    ...answer,
    text: answer.text + (content ?? refusal ?? ''),
    reasoning: answer.reasoning + (reasoning_content ?? reasoning ?? ''),
    ...(choice?.finish_reason != null && { finish: choice.finish_reason }),
    ...(usage != null && { usage }),
    ...(error !== undefined && { error: error.message ?? 'The reply is an error without a message.' }),
  }
}

/** Reads a stream; `onChange` is called for every chunk. A stream without its end marker is an error, since it may be incomplete. */
export async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  begun: Answer,
  onChange: (answer: Answer) => void,
): Promise<Answer> {
  let answer = begun
  let done = false
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') done = true
      else answer = add(answer, parse(data))
    },
  })
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    answer = { ...answer, raw: answer.raw + text }
    parser.feed(text)
    onChange(answer)
  }
  return done || answer.error !== undefined
    ? answer
    : { ...answer, error: 'The stream ended without its end marker: the reply may be incomplete.' }
}

/** Parses JSON; resolves to an error if it is invalid. */
export function parse(text: string): Reply {
  try {
    return JSON.parse(text) as Reply
  } catch {
    return { error: { message: 'The reply is not JSON: see the Raw tab.' } }
  }
}
