import type { Call, FinishReason } from 'unified-model-gateway/plugin'
import { wordsFor } from './answer.ts'
import { readDirectives } from './directives.ts'
import { identify } from './identity.ts'
import type { PacedReply } from './pace.ts'
import { catchRefusal, Refusal, requestedError } from './refusal.ts'
import { wholeReply } from './whole.ts'
import { countWords } from './words.ts'

/** OpenAI's maximum of `n`, here of all prompts together. */
const MAX_CHOICES = 128

/** The text of one choice, a token for each word. */
interface Completed {
  readonly words: readonly string[]
  readonly finish: FinishReason
}

/** Makes the reply to a request of `/v1/completions`: each prompt of a list gets `n` choices. */
export function replyToCompletion(call: Call): PacedReply {
  return catchRefusal(call, 'prompt', () => {
    const { prompts, directives } = readPrompts(call.member('prompt') ?? '')
    const error = requestedError(directives)
    if (error !== undefined) return error
    if (prompts.length * call.choices > MAX_CHOICES)
      throw new Refusal('prompt', `The sandbox gives ${MAX_CHOICES} choices at most.`)
    const limit = call.body.max_tokens ?? Number.POSITIVE_INFINITY
    const choices = prompts.flatMap((text) => {
      const words = wordsFor(call, { text, directives })
      const finish = directives.finish ?? (words.length > limit ? 'length' : 'stop')
      return Array.from({ length: call.choices }, (): Completed => ({ words: words.slice(0, limit), finish }))
    })
    const { id, created } = identify(call)
    const envelope = { id: `cmpl-${id}`, object: 'text_completion', created, model: call.model.id }
    const usage = usageOf(prompts, choices)
    if (!call.stream) {
      const whole = choices.map(({ words, finish }, index) => choiceOf(index, words.join(''), finish))
      return wholeReply(JSON.stringify({ ...envelope, choices: whole, usage }), directives)
    }
    const frames = toFrames(envelope, choices, usage)
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, frames, pacing: directives }
  })
}

/** Reads the prompts, and the directives in the last one. A list of tokens is a prompt that names their number. */
function readPrompts(prompt: unknown) {
  const all = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt]
  const texts = all.map((one) => {
    if (typeof one === 'string') return one
    if (Array.isArray(one) && one.every(Number.isInteger)) return `${one.length} tokens`
    throw new Refusal('prompt', 'The prompts must be texts or lists of tokens.')
  })
  const { text, directives } = readDirectives(texts.at(-1) ?? '', 'prompt')
  return { prompts: [...texts.slice(0, -1), text], directives }
}

function usageOf(prompts: readonly string[], choices: readonly Completed[]) {
  const prompt = prompts.reduce((sum, text) => sum + countWords(text), 0)
  const completion = choices.reduce((sum, { words }) => sum + words.length, 0)
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

const choiceOf = (index: number, text: string, finish: FinishReason | null) => ({
  text,
  index,
  logprobs: null,
  finish_reason: finish,
})

/** One choice after the other; then the usage, which core removes if the client did not request it, and the end marker. */
function* toFrames(envelope: object, choices: readonly Completed[], usage: object): Generator<string> {
  for (const [index, { words, finish }] of choices.entries()) {
    for (const word of words) yield toFrame({ ...envelope, choices: [choiceOf(index, word, null)] })
    yield toFrame({ ...envelope, choices: [choiceOf(index, '', finish)] })
  }
  yield toFrame({ ...envelope, choices: [], usage })
  yield 'data: [DONE]\n\n'
}

const toFrame = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`
