import { createHash } from 'node:crypto'
import type { Call } from 'unified-model-gateway/plugin'
import { readDirectives } from './directives.ts'
import type { PacedReply } from './pace.ts'
import { catchRefusal, Refusal, requestedError } from './refusal.ts'
import { countWords } from './words.ts'

/** OpenAI's maximum. */
const MAX_INPUTS = 2048
/** Those of text-embedding-3-large. */
const MAX_DIMENSIONS = 3072
/** Those of text-embedding-3-small. */
const DIMENSIONS = 1536

/** A text, or a list of tokens. */
type Input = string | readonly number[]

/** Makes the reply to an embeddings request: the same text always has the same vector, of length 1. */
export function replyToEmbeddings(call: Call): PacedReply {
  return catchRefusal(call, 'input', () => {
    const { inputs, directives } = readInputs(call.member('input'))
    const error = requestedError(directives)
    if (error !== undefined) return error
    const { delay, cut, stall } = directives
    // A frame per vector: a cut or a stall is in the middle.
    const middle = Math.ceil(inputs.length / 2)
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      frames: toFrames(inputs, dimensionsOf(call), call),
      pacing: { delay, cut: cut && middle, stall: stall && middle },
    }
  })
}

/** Reads the inputs, and the directives in the last text. Throws a `Refusal` for invalid or too many inputs. */
function readInputs(input: unknown) {
  const all = (Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]) as Input[]
  if (all.length > MAX_INPUTS) throw new Refusal('input', `The sandbox takes ${MAX_INPUTS} inputs at most.`)
  if (!all.every(isInput)) throw new Refusal('input', 'The inputs must be texts or lists of tokens.')
  const last = all.at(-1)
  if (typeof last !== 'string') return { inputs: all, directives: {} }
  const { text, directives } = readDirectives(last, 'input')
  return { inputs: [...all.slice(0, -1), text], directives }
}

const isInput = (input: unknown): input is Input =>
  typeof input === 'string' || (Array.isArray(input) && input.every(Number.isInteger))

function dimensionsOf(call: Call): number {
  const requested = (call.member('dimensions') as number | null | undefined) ?? DIMENSIONS
  if (requested > MAX_DIMENSIONS) throw new Refusal('dimensions', `The sandbox has ${MAX_DIMENSIONS} dimensions at most.`)
  return requested
}

/** OpenAI's reply, one vector per frame. */
function* toFrames(inputs: readonly Input[], dimensions: number, call: Call): Generator<string> {
  const inBase64 = call.member('encoding_format') === 'base64'
  for (const [index, input] of inputs.entries()) {
    const vector = vectorOf(input, dimensions)
    const embedding = inBase64 ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector)
    yield `${index === 0 ? '{"object":"list","data":[' : ','}${JSON.stringify({ object: 'embedding', index, embedding })}`
  }
  const tokens = inputs.reduce((sum, input) => sum + (typeof input === 'string' ? countWords(input) : input.length), 0)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  yield `],"model":${JSON.stringify(call.model.id)},"usage":${JSON.stringify(usage)}}`
}

/** A vector of length 1, from the input's hash. */
function vectorOf(input: Input, dimensions: number): Float32Array {
  const hash = createHash('shake256', { outputLength: 4 * dimensions })
    .update(JSON.stringify(input))
    .digest()
  const numbers = Array.from({ length: dimensions }, (_, index) => hash.readInt32LE(4 * index) / 2 ** 31)
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => number / length)
}
