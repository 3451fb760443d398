import type { ChatRequest } from 'unified-model-gateway/plugin'
import type { ChatBody } from './wire.ts'

/** How a reply is drawn, and the parameters that had to be left out. */
export interface Sampling {
  readonly taken: Pick<ChatBody, 'temperature' | 'p' | 'seed' | 'frequency_penalty' | 'presence_penalty' | 'stop_sequences'>
  readonly dropped: readonly string[]
}

/** OpenAI's sampling parameters within Cohere's bounds. */
export function toSampling(body: Readonly<ChatRequest>): Sampling {
  const { temperature, top_p: topP, seed } = body
  const penalties = toPenalties(body)
  const asked = [body.stop ?? []].flat()
  const stop = asked.filter((sequence) => sequence !== '')
  return {
    taken: {
      ...(temperature != null && { temperature: Math.min(temperature, 1) }),
      ...(topP != null && { p: Math.min(Math.max(topP, 0.01), 0.99) }),
      ...(typeof seed === 'number' && { seed: Math.abs(seed) }),
      ...penalties.taken,
      ...(stop.length > 0 && { stop_sequences: stop }),
    },
    dropped: [...penalties.dropped, ...(stop.length < asked.length ? ['stop'] : [])],
  }
}

/** From 0 to 1, and one of both: Cohere rewards no repetition, and answers 400 where both are there. */
function toPenalties(body: Readonly<ChatRequest>): Sampling {
  const asked = (['frequency_penalty', 'presence_penalty'] as const).flatMap((name) => {
    const value = body[name]
    return typeof value === 'number' && value !== 0 ? [{ name, value: Math.min(value, 1) }] : []
  })
  const taken = asked.filter(({ value }) => value > 0).slice(0, 1)
  return {
    taken: Object.fromEntries(taken.map(({ name, value }) => [name, value])),
    dropped: asked.filter((penalty) => !taken.includes(penalty)).map(({ name }) => name),
  }
}
