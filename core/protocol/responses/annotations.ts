import { isRecord, textOf } from '../../sdk/json.ts'
import type { Logprob, UrlCitation } from './wire.ts'

/** The sources of a text, of the `annotations` of a message or a delta. */
export function readAnnotations(annotations: unknown): UrlCitation[] {
  return recordsOf(annotations).flatMap(({ type, url_citation: cited }) => {
    if (type !== 'url_citation' || !isRecord(cited)) return []
    const { start_index: start, end_index: end, title, url } = cited
    return [{ type, start_index: placeOf(start), end_index: placeOf(end), title: textOf(title), url: textOf(url) }]
  })
}

/** The log probabilities of a text, of the `logprobs` of a choice. */
export function readLogprobs(logprobs: unknown): Logprob[] {
  return recordsOf(isRecord(logprobs) ? logprobs.content : undefined).map((entry) => ({
    ...toToken(entry),
    top_logprobs: recordsOf(entry.top_logprobs).map(toToken),
  }))
}

const toToken = ({ token, logprob, bytes }: Readonly<Record<string, unknown>>) => ({
  token: textOf(token),
  bytes: Array.isArray(bytes) ? bytes : [...Buffer.from(textOf(token))],
  logprob: typeof logprob === 'number' ? logprob : -9999,
})

const placeOf = (value: unknown): number => (typeof value === 'number' ? value : 0)

const recordsOf = (list: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(list) ? list.filter(isRecord) : []
