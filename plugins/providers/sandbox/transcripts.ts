import type { Call } from 'unified-model-gateway/plugin'
import type { PacedReply } from './pace.ts'
import { Refusal } from './refusal.ts'
import { eventReply, replyToText, wholeReply } from './whole.ts'
import { splitWords } from './words.ts'

/** A file of a form, as core describes it. */
interface File {
  readonly filename: string
  readonly size: number
}

/** Writes a transcript in each `response_format`: its content type and its text. */
const FORMATS: Readonly<Record<string, (text: string, usage: object) => readonly [type: string, body: string]>> = {
  json: (text, usage) => ['application/json', JSON.stringify({ text, usage })],
  verbose_json: (text) => [
    'application/json',
    JSON.stringify({ task: 'transcribe', language: 'english', duration: 1, text, segments: [] }),
  ],
  text: (text) => ['text/plain', `${text}\n`],
  srt: (text) => ['text/plain', `1\n00:00:00,000 --> 00:00:01,000\n${text}\n\n`],
  vtt: (text) => ['text/plain', `WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n${text}\n\n`],
}

/** Makes the reply to a request of `/v1/audio/transcriptions`: it names the file, which nothing listens to. */
export function replyToTranscription(call: Call): PacedReply {
  return replyToText(call, 'prompt', (_, directives) => {
    const file = call.member('file') as File | undefined
    if (typeof file !== 'object') throw new Refusal('file', 'The sandbox needs a file.')
    const format = String(call.member('response_format') ?? 'json')
    if (!Object.hasOwn(FORMATS, format))
      throw new Refusal('response_format', `The sandbox writes ${Object.keys(FORMATS).join(', ')} only.`)
    const words = splitWords(`Hello from the sandbox. It cannot hear ${file.filename}, which has ${file.size} bytes.`)
    const text = words.join('')
    const usage = { type: 'tokens', input_tokens: file.size, output_tokens: words.length, total_tokens: file.size + words.length }
    if (call.stream) return eventReply(toEvents(words, usage), directives)
    const [type, body] = FORMATS[format]!(text, usage)
    return wholeReply(body, directives, type)
  })
}

const toEvents = (words: readonly string[], usage: object) => [
  ...words.map((delta) => ({ type: 'transcript.text.delta', delta })),
  { type: 'transcript.text.done', text: words.join(''), usage },
]
