import { writeFileSync } from 'node:fs'
import type { Asked } from './apis.ts'

const WORDS = `The gateway reads the request body finds the model and forwards it "quoted" to the provider
with a new line and some accents é ü and numbers 12345`.split(' ')

/** A prompt of about `bytes` bytes, always the same: words, quotes, new lines and letters of two bytes. */
export function prompt(bytes: number): string {
  let text = ''
  for (let pick = 7; Buffer.byteLength(text) < bytes; pick = (pick * 31 + 11) % 9973) text += `${WORDS[pick % WORDS.length]} `
  return text
}

/** About 1 KiB. */
export const SHORT_CHAT = [
  { role: 'system', content: prompt(300) },
  { role: 'user', content: prompt(480) },
]

/** About 100 KiB in 40 messages. */
export const LONG_CHAT = Array.from({ length: 40 }, (_, turn) => ({
  role: turn % 2 ? 'assistant' : 'user',
  content: prompt(2450),
}))

/** About 100 KiB, nearly all of it one base64 string. */
export const IMAGE_CHAT = [
  {
    role: 'user',
    content: [
      { type: 'text', text: prompt(400) },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUgAA'.repeat(4230)}` } },
    ],
  },
]

/** What to ask for, and of whom. */
export interface ChatRequest extends Pick<Asked, 'speaks' | 'unpaced'> {
  readonly port: number
  readonly path: string
  readonly key: string
  readonly model: string
  readonly messages: readonly object[]
  /** Present: the reply is a stream of so many content events, so many microseconds apart. */
  readonly stream?: { readonly events: number; readonly delayUs: number }
  /** Beside those of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A POST request, ready to be sent. */
export interface HttpRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Messages come first, as the OpenAI SDK for Python sends them. The pace is told as a stop sequence, which providers that translate
 * send on.
 */
export function chatRequest(asked: ChatRequest): HttpRequest {
  const { port, path, key, headers } = asked
  const body = JSON.stringify(bodyOf(asked))
  return {
    path,
    headers: {
      host: `127.0.0.1:${port}`,
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'loadgen',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    },
    body,
  }
}

function bodyOf({ model, messages, stream, speaks, unpaced }: ChatRequest): object {
  const pace = stream && !unpaced && `bench;chunks=${stream.events};delay-us=${stream.delayUs}`
  const streams = stream && { stream: true }
  if (speaks === 'messages') {
    const [{ content: system }, ...turns] = messages as readonly [{ readonly content?: unknown }, ...object[]]
    return { messages: turns, system, model, max_tokens: 512, ...streams, ...(pace && { stop_sequences: [pace] }) }
  }
  // Without stop sequences: the upstream sends 100 events at once if it is not told otherwise.
  if (speaks === 'responses') return { input: messages, model, temperature: 0.7, max_output_tokens: 512, ...streams }
  const told = stream && { ...streams, stream_options: { include_usage: true }, ...(pace && { stop: pace }) }
  return { messages, model, temperature: 0.7, max_tokens: 512, ...told }
}

/** The same as the bytes of HTTP/1.1, head and body. */
export function writeRequest(file: string, asked: ChatRequest): void {
  const { path, headers, body } = chatRequest(asked)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  writeFileSync(file, [`POST ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'))
}
