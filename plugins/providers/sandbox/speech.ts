import type { Call } from 'unified-model-gateway/plugin'
import type { PacedReply } from './pace.ts'
import { Refusal } from './refusal.ts'
import { eventReply, replyToText } from './whole.ts'
import { countWords } from './words.ts'

/** In Hz. The rate is that of OpenAI's PCM. */
const [RATE, TONE] = [24_000, 440]
/** Two bytes a sample; a tenth of a second for each word. */
const BYTES_OF_WORD = (RATE / 10) * 2
const MAX_WORDS = 20
const LOUDNESS = 8000

/** By `response_format`. */
const TYPES = { wav: 'audio/wav', pcm: 'audio/pcm' }

/** Makes the reply to a request of `/v1/audio/speech`: a tone, the longer the more words there are. */
export function replyToSpeech(call: Call): PacedReply {
  return replyToText(call, 'input', (input, directives) => {
    const format = call.member('response_format') ?? 'wav'
    if (format !== 'wav' && format !== 'pcm')
      throw new Refusal('response_format', `The sandbox speaks ${Object.keys(TYPES).join(' and ')} only.`)
    const words = countWords(input)
    const spoken = Math.min(Math.max(words, 1), MAX_WORDS)
    const sound = toneOf(spoken)
    const pieces = piecesOf(format === 'wav' ? Buffer.concat([headerOf(sound.length), sound]) : sound)
    if (call.stream || call.member('stream_format') === 'sse') {
      const usage = { input_tokens: words, output_tokens: spoken, total_tokens: words + spoken }
      return eventReply(toEvents(pieces, usage), directives)
    }
    return { status: 200, headers: { 'content-type': TYPES[format] }, frames: pieces, pacing: directives }
  })
}

const toEvents = (pieces: readonly Buffer[], usage: object) => [
  ...pieces.map((piece) => ({ type: 'speech.audio.delta', audio: piece.toString('base64') })),
  { type: 'speech.audio.done', usage },
]

/** Samples of 16 bits, of one channel. */
function toneOf(words: number): Buffer {
  const sound = Buffer.alloc(words * BYTES_OF_WORD)
  for (let at = 0; at < sound.length; at += 2) {
    sound.writeInt16LE(Math.round(LOUDNESS * Math.sin((Math.PI * TONE * at) / RATE)), at)
  }
  return sound
}

/** The header of a WAV file. `length`: the bytes of its samples. */
function headerOf(length: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + length, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  // Size of the format, PCM, channels.
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  // Samples and bytes of a second, bytes and bits of a sample.
  header.writeUInt32LE(RATE, 24)
  header.writeUInt32LE(2 * RATE, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(length, 40)
  return header
}

const piecesOf = (sound: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(sound.length / BYTES_OF_WORD) }, (_, index) =>
    sound.subarray(index * BYTES_OF_WORD, (index + 1) * BYTES_OF_WORD),
  )
