import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { type ChatRequest, chatRequest } from './requests.ts'

/** The paced stream takes a second; a program that is asked for the first time may still be loading. */
const REPLY_MS = 20_000

/** Sends a request once; resolves to the text of the reply, of OpenAI's chat completions or Responses or of Anthropic's Messages, whole or a stream. */
export async function replyText(asked: ChatRequest): Promise<string> {
  const { path, headers, body } = chatRequest(asked)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const options = { host: '127.0.0.1', port: asked.port, method: 'POST', path, headers, signal: AbortSignal.timeout(REPLY_MS) }
  const call = request(options, async (response) => {
    try {
      const reply = await text(response)
      if (response.statusCode !== 200) throw new Error(`it answered with status ${response.statusCode}: ${reply}`)
      resolve(asked.stream ? textOfStream(reply) : textOfWhole(reply))
    } catch (error) {
      reject(error)
    }
  })
  call.once('error', reject)
  call.end(body)
  return promise
}

/** The parts of a whole reply that carry its text. */
interface Whole {
  /** Of chat completions. */
  readonly choices?: readonly { readonly message: { readonly content: string } }[]
  /** Of Messages. */
  readonly content?: readonly { readonly text: string }[]
}

interface Event {
  /** Of chat completions. */
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  /** Of Messages; of Responses a text by itself. */
  readonly delta?: { readonly text?: string } | string
}

/** The text of a chat completion, or of a message. */
export function textOfWhole(body: string): string {
  const { choices, content } = JSON.parse(body) as Whole
  return choices?.[0]?.message.content ?? content?.[0]?.text ?? ''
}

/** The text of all events of a stream. */
export function textOfStream(body: string): string {
  const data = Array.from(body.matchAll(/^data: (?!\[DONE\])(.*)$/gm), ([, json]) => JSON.parse(json!) as Event)
  return data
    .map(({ choices, delta }) => choices?.[0]?.delta?.content ?? (typeof delta === 'string' ? delta : delta?.text) ?? '')
    .join('')
}
