import type { Usage } from 'unified-model-gateway/plugin'
import type { Quirk } from '../quirk.ts'

/** The vendor counts reasoning beside `completion_tokens`, where OpenAI's includes it. Whether a usage does, its total tells. */
export const uncountedReasoning: Quirk = {
  name: 'uncounted-reasoning',

  stream: () => countIn,
  completion: countIn,
}

function countIn<Reply extends { readonly usage?: Usage }>(reply: Reply): Reply {
  const { usage } = reply
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens
  if (usage === undefined || typeof reasoning !== 'number') return reply
  const completion_tokens = usage.completion_tokens + reasoning
  if (usage.total_tokens !== usage.prompt_tokens + completion_tokens) return reply
  return { ...reply, usage: { ...usage, completion_tokens } }
}
