import type { Call } from 'unified-model-gateway/plugin'
import { identify } from './identity.ts'
import type { PacedReply } from './pace.ts'
import { replyToText, wholeReply } from './whole.ts'
import { countWords } from './words.ts'

type Document = string | { readonly text?: unknown }

/** Makes the reply to a request of `/v1/rerank`: the score of a document is the share of the query's words that it has. */
export function replyToRerank(call: Call): PacedReply {
  return replyToText(call, 'query', (query, directives) => {
    const documents = call.member('documents') as readonly Document[]
    const asked = wordsOf(query)
    const texts = documents.map(textOf)
    const results = texts
      .map((text, index) => ({ index, relevance_score: shareOf(asked, wordsOf(text)) }))
      .sort((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, call.member('top_n') as number | undefined)
      .map((rank) => (call.member('return_documents') === true ? { ...rank, document: { text: texts[rank.index] } } : rank))
    const tokens = [query, ...texts].reduce((sum, text) => sum + countWords(text), 0)
    const reply = { id: identify(call).id, object: 'list', model: call.model.id, results, usage: { total_tokens: tokens } }
    return wholeReply(JSON.stringify(reply), directives)
  })
}

function textOf(document: Document): string {
  if (typeof document === 'string') return document
  return typeof document.text === 'string' ? document.text : JSON.stringify(document)
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))

const shareOf = (asked: ReadonlySet<string>, words: ReadonlySet<string>): number =>
  asked.size === 0 ? 0 : Array.from(asked).filter((word) => words.has(word)).length / asked.size
