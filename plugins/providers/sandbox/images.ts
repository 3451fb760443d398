import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import type { Call } from 'unified-model-gateway/plugin'
import { identify } from './identity.ts'
import type { PacedReply } from './pace.ts'
import { Refusal } from './refusal.ts'
import { eventReply, replyToText, wholeReply } from './whole.ts'
import { countWords } from './words.ts'

/** OpenAI's maximum. */
const MAX_PICTURES = 10

/** Makes the reply to a request of `/v1/images/generations`: PNGs of one pixel, whose colour is derived from the prompt. */
export function replyToImages(call: Call): PacedReply {
  return replyToText(call, 'prompt', (prompt, directives) => {
    if (call.choices > MAX_PICTURES) throw new Refusal('n', `The sandbox makes ${MAX_PICTURES} pictures at most.`)
    const { created } = identify(call)
    const pictures = Array.from({ length: call.choices }, (_, index) => pictureOf(`${index} ${prompt}`).toString('base64'))
    const usage = usageOf(prompt, pictures.length)
    if (call.stream) return eventReply(toEvents(pictures, created, usage), directives)
    const asUrl = call.member('response_format') === 'url'
    const data = pictures.map((base64) => (asUrl ? { url: `data:image/png;base64,${base64}` } : { b64_json: base64 }))
    return wholeReply(JSON.stringify({ created, data, usage }), directives)
  })
}

const toEvents = (pictures: readonly string[], created_at: number, usage: object) =>
  pictures.map((b64_json) => ({
    type: 'image_generation.completed',
    b64_json,
    created_at,
    size: '1x1',
    quality: 'low',
    background: 'opaque',
    output_format: 'png',
    usage,
  }))

/** A token for each word, and one for each pixel. */
function usageOf(prompt: string, pixels: number) {
  const words = countWords(prompt)
  return {
    input_tokens: words,
    output_tokens: pixels,
    total_tokens: words + pixels,
    input_tokens_details: { text_tokens: words, image_tokens: 0 },
  }
}

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
/** Width and height 1; 8 bits for each of red, green and blue; no interlacing. */
const HEADER = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])

/** A PNG (w3.org/TR/png) of one pixel. */
function pictureOf(text: string): Buffer {
  const [red, green, blue] = createHash('sha256').update(text).digest()
  const row = deflateSync(Buffer.from([0, red!, green!, blue!]))
  return Buffer.concat([SIGNATURE, chunkOf('IHDR', HEADER), chunkOf('IDAT', row), chunkOf('IEND', Buffer.alloc(0))])
}

function chunkOf(type: string, data: Buffer): Buffer {
  const checked = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [data.length, crc32(checked)].map((number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(number)
    return bytes
  })
  return Buffer.concat([length!, checked, sum!])
}
