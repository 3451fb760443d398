import {
  chunk,
  type FinishReason,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  UpstreamError,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import { meaningOf } from './refusal.ts'
import type { Cost, Ending, Talk, TalkError, TalkEvent } from './wire.ts'

const FINISH: Readonly<Record<Ending, FinishReason>> = {
  done: 'stop',
  words: 'length',
  tools: 'tool_calls',
  bleep: 'content_filter',
  hush: 'stop',
}

/** Translates one reply to OpenAI's. An error that it throws on invalid bytes counts as the upstream's. */
export function createTranslator(): Translator {
  let calls = 0

  function* event({ data }: UpstreamEvent): Iterable<TranslatedChunk> {
    const part: TalkEvent = JSON.parse(data)
    if ('trouble' in part) throw new UpstreamError(meaningOf(part.trouble, 500))
    if ('id' in part) yield { id: part.id, choices: [] }
    if ('says' in part) yield chunk.content(part.says)
    if ('call' in part) {
      const index = calls++
      yield chunk.toolCall({ index, id: part.call.id, name: part.call.name })
      yield chunk.toolArguments(index, JSON.stringify(part.call.input))
    }
    if ('ended' in part) {
      yield chunk.finish(FINISH[part.ended])
      yield chunk.usage(toUsage(part.cost))
    }
  }

  return { completion: (body) => toCompletion(body as Talk | TalkError), event }
}

function toCompletion(talk: Talk | TalkError): TranslatedCompletion {
  if ('trouble' in talk) throw new UpstreamError(meaningOf(talk.trouble, 500))
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
