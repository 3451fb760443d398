/** A link that gives back what its caller asks for, in place of the chunks and the completion that it is given. */
import { type ChatChunk, type ChatCompletion, defineChain, type ReplyTransform, Type } from 'unified-model-gateway/plugin'

type Change = (reply: ChatChunk | ChatCompletion) => unknown

const RESULTS: Readonly<Record<string, Change>> = {
  'a promise': async (reply) => reply,
  'a promise that rejects': async () => {
    throw new Error('nobody waits for it')
  },
  'a number': () => 42,
  'a text': () => 'Hello',
  null: () => null,
  'an array of numbers': () => [42],
  'an empty object': () => ({}),
  'choices that are no list': (reply) => ({ ...reply, choices: 'none' }),
  'choices that are no objects': (reply) => ({ ...reply, choices: [null] }),
  'what JSON cannot say': (reply) => ({ ...reply, created: 1n }),
  nothing: () => undefined,
}

/** Of a stream. */
const CHUNK_RESULTS: Readonly<Record<string, (seen: number) => Change>> = {
  'a number for the third chunk': (seen) => (chunk) => (seen === 3 ? 42 : chunk),
  'nothing for the first chunk': (seen) => (chunk) => (seen === 1 ? undefined : chunk),
  'nothing but text': () => (chunk) => (hasText(chunk as ChatChunk) ? chunk : undefined),
}

/** Transforms that send another number of chunks. */
const SPLITS: Readonly<Record<string, () => NonNullable<ReplyTransform['chunk']>>> = {
  'each chunk in an array': () => (chunk) => [chunk],
  'its text letter by letter': () => (chunk) =>
    hasText(chunk) ? [...chunk.choices[0]!.delta.content!].map((letter) => withText(chunk, letter)) : chunk,
  'its text at the end': () => {
    let held = ''
    return (chunk) => {
      const [choice] = chunk.choices
      held += choice?.delta.content ?? ''
      if (choice?.finish_reason == null) return hasText(chunk) ? undefined : chunk
      return [withText(chunk, held), { ...chunk, choices: [{ ...choice, delta: {} }] }]
    }
  },
}

const withText = (chunk: ChatChunk, content: string): ChatChunk => ({
  ...chunk,
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
})

export default defineChain({
  apiVersion: 1,
  name: 'transformer',
  schema: Type.Object({}, { additionalProperties: false }),
  create: () => ({
    handle(ctx, next) {
      const wanted = ctx.get('x-result')
      let seen = 0
      if (Object.hasOwn(SPLITS, wanted)) {
        ctx.state.reply.transform({ chunk: SPLITS[wanted]!() })
        return next()
      }
      const change: Change = (reply) => (RESULTS[wanted] ?? CHUNK_RESULTS[wanted]!(++seen))(reply)
      if (wanted !== '') ctx.state.reply.transform({ chunk: change, completion: change } as ReplyTransform)
      return next()
    },
  }),
})

const hasText = ({ choices }: ChatChunk): boolean => choices.some(({ delta }) => delta.content)
