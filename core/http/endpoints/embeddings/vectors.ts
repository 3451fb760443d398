import type { TranslatedEmbeddings } from '../../../plugin/api.ts'

/** The vectors of a reply, one for each input. Throws an Error where there are others, or where they are no lists of numbers. */
export function vectorsOf({ data }: TranslatedEmbeddings, input: unknown): readonly (readonly number[])[] {
  const expected = countOf(input)
  if (data.length !== expected) throw new Error(`there are ${data.length} embeddings of ${expected} inputs`)
  return data.map(({ embedding }) => {
    if (isVector(embedding)) return embedding
    throw new Error('an embedding is no list of numbers')
  })
}

/** Little-endian 32-bit floats, one after the other, as OpenAI encodes a vector. */
export function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(4 * vector.length)
  for (const [index, number] of vector.entries()) bytes.writeFloatLE(number, 4 * index)
  return bytes.toString('base64')
}

/** One text, one list of tokens, or several of either. */
function countOf(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1
}

/** JSON can write what no number holds: `1e999`. */
function isVector(embedding: unknown): embedding is readonly number[] {
  return Array.isArray(embedding) && embedding.length > 0 && embedding.every(Number.isFinite)
}
