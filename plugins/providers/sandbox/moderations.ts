import type { Call } from 'unified-model-gateway/plugin'
import { readDirectives } from './directives.ts'
import { identify } from './identity.ts'
import type { PacedReply } from './pace.ts'
import { catchRefusal, Refusal, requestedError } from './refusal.ts'
import { wholeReply } from './whole.ts'

/** Those of omni-moderation-latest. */
const CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
]

/** Above OpenAI's; each has a result of about a kilobyte. */
const MAX_INPUTS = 128

/** Makes the reply to a request of `/v1/moderations`: a text that has the name of a category as a word is in that category. */
export function replyToModeration(call: Call): PacedReply {
  return catchRefusal(call, 'input', () => {
    const inputs = readInputs(call.member('input'))
    const { text, directives } = readDirectives(inputs.at(-1) ?? '', 'input')
    const results = [...inputs.slice(0, -1), text].map(judge)
    const reply = { id: `modr-${identify(call).id}`, model: call.model.id, results }
    return requestedError(directives) ?? wholeReply(JSON.stringify(reply), directives)
  })
}

/** The texts to judge: parts of text and pictures are one input, whose texts are read. */
function readInputs(input: unknown): readonly string[] {
  const all = [input].flat()
  if (all.length > MAX_INPUTS) throw new Refusal('input', `The sandbox takes ${MAX_INPUTS} inputs at most.`)
  if (all.every((one) => typeof one === 'string')) return all
  const texts = all.map((part) => (part as { readonly text?: unknown } | null)?.text)
  return [texts.filter((text) => typeof text === 'string').join('\n')]
}

function judge(text: string) {
  const words = new Set(text.toLowerCase().match(/[a-z]+(?:[/-][a-z]+)*/g))
  const of = <Value>(value: (named: boolean) => Value) =>
    Object.fromEntries(CATEGORIES.map((category) => [category, value(words.has(category))]))
  return {
    flagged: CATEGORIES.some((category) => words.has(category)),
    categories: of((named) => named),
    category_scores: of((named) => (named ? 1 : 0)),
    category_applied_input_types: of(() => ['text']),
  }
}
