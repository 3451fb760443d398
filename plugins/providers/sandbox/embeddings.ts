import { createHash } from 'node:crypto'
import type { Call } from 'unified-model-gateway/plugin'
import { readDirectives } from './directives.ts'
import { Refusal } from './refusal.ts'
import { faultAskedFor, orFault, type Reply } from './reply.ts'
import { countWords } from './words.ts'

/** As many as OpenAI takes. */
const MOST_INPUTS = 2048
/** Those of text-embedding-3-large. */
const MOST_DIMENSIONS = 3072
/** Those of text-embedding-3-small. */
const DIMENSIONS = 1536

/** A text, or a list of tokens. */
type Input = string | readonly number[]

/** Decides on the reply to a call for embeddings: the same text always has the same vector, of length 1. */
export function embeddingsFor(call: Call): Reply {
  return orFault(() => {
    const { inputs, directives } = readInputs(call.member('input'))
    const fault = faultAskedFor(directives)
    if (fault !== undefined) return fault
    const { delay, cut, stall } = directives
    // A vector is a piece of the body: it ends, or stalls, in the middle.
    const middle = Math.ceil(inputs.length / 2)
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      frames: write(inputs, dimensionsOf(call), call),
      pacing: { delay, cut: cut && middle, stall: stall && middle },
    }
  })
}

/** What is to be embedded, and the orders that stand in its last text. Throws a `Refusal` where it is none, or too much. */
function readInputs(input: unknown) {
  const all = (Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]) as Input[]
  if (all.length > MOST_INPUTS) throw new Refusal('input', `The sandbox takes ${MOST_INPUTS} inputs at most.`)
  if (!all.every(isInput)) throw new Refusal('input', 'The inputs must be texts or lists of tokens.')
  const last = all.at(-1)
  if (typeof last !== 'string') return { inputs: all, directives: {} }
  const { text, directives } = readDirectives(last, 'input')
  return { inputs: [...all.slice(0, -1), text], directives }
}

const isInput = (input: unknown): input is Input =>
  typeof input === 'string' || (Array.isArray(input) && input.every(Number.isInteger))

function dimensionsOf(call: Call): number {
  const asked = (call.member('dimensions') as number | null | undefined) ?? DIMENSIONS
  if (asked > MOST_DIMENSIONS) throw new Refusal('dimensions', `The sandbox has ${MOST_DIMENSIONS} dimensions at most.`)
  return asked
}

/** OpenAI's reply, a vector at a time. */
function* write(inputs: readonly Input[], dimensions: number, call: Call): Generator<string> {
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

/** As many numbers as asked for out of the input's hash, shortened to length 1. */
function vectorOf(input: Input, dimensions: number): Float32Array {
  const hash = createHash('shake256', { outputLength: 4 * dimensions })
    .update(JSON.stringify(input))
    .digest()
  const numbers = Array.from({ length: dimensions }, (_, index) => hash.readInt32LE(4 * index) / 2 ** 31)
  const length = Math.hypot(...numbers)
  return Float32Array.from(numbers, (number) => number / length)
}
