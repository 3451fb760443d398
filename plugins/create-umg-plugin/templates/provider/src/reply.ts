import {
  chunk,
  type FinishReason,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  UpstreamError,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import { refusalOf } from './refusal.ts'
import type { Cost, Ending, Talk, TalkError, TalkEvent } from './wire.ts'

const FINISH: Readonly<Record<Ending, FinishReason>> = {
  done: 'stop',
  words: 'length',
  tools: 'tool_calls',
  bleep: 'content_filter',
}

/** Turns one reply into OpenAI's. What it throws on bytes that make no sense is the upstream's fault. */
export function createTranslator(): Translator {
  let calls = 0

  function* event({ data }: UpstreamEvent): Iterable<TranslatedChunk> {
    const told: TalkEvent = JSON.parse(data)
    if ('trouble' in told) throw new UpstreamError(refusalOf(500, told))
    if ('id' in told) yield { id: told.id, choices: [] }
    if ('says' in told) yield chunk.content(told.says)
    if ('call' in told) {
      const index = calls++
      yield chunk.toolCall({ index, id: told.call.id, name: told.call.name })
      yield chunk.toolArguments(index, JSON.stringify(told.call.input))
    }
    if ('ended' in told) {
      yield chunk.finish(FINISH[told.ended])
      yield chunk.usage(toUsage(told.cost))
    }
  }

  return { completion: (body) => toCompletion(body as Talk | TalkError), event }
}

function toCompletion(talk: Talk | TalkError): TranslatedCompletion {
  if ('trouble' in talk) throw new UpstreamError(refusalOf(500, talk))
  const { id, says, calls = [], ended, cost } = talk
  const tool_calls = calls.map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: JSON.stringify(call.input) },
  }))
  const message = { content: says || null, ...(tool_calls.length > 0 && { tool_calls }) }
  return { id, choices: [{ message, finish_reason: FINISH[ended] }], usage: toUsage(cost) }
}

function toUsage({ heard, said }: Cost) {
  return { prompt_tokens: heard, completion_tokens: said, total_tokens: heard + said }
}
