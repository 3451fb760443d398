import { isRecord, textOf } from 'unified-model-gateway/plugin'

/** What a message has in addition to its text. */
type Cited = {
  readonly annotations?: readonly object[]
  readonly extra_content?: Record<string, unknown>
}

/**
 * The citations of an answer, as Cohere writes them, in `extra_content.cohere.citations` of the message; those of pages in `annotations` too,
 * as OpenAI writes them, which have no place for other results of tools. Empty without citations.
 */
export function toCitations(citations: readonly Readonly<Record<string, unknown>>[]): Cited {
  if (citations.length === 0) return {}
  const annotations = citations.flatMap(toAnnotations)
  return { ...(annotations.length > 0 && { annotations }), extra_content: { cohere: { citations } } }
}

/** One for each source with a URL ("Citations", docs.cohere.com). */
function toAnnotations({ start, end, sources }: Readonly<Record<string, unknown>>): object[] {
  const all: readonly unknown[] = Array.isArray(sources) ? sources : []
  return all.filter(isRecord).flatMap(({ tool_output: output, document }) => {
    const source = isRecord(output) ? output : isRecord(document) ? document : {}
    if (typeof start !== 'number' || typeof end !== 'number' || !/^https?:/.test(textOf(source.url))) return []
    const title = textOf(source.title)
    return [{ type: 'url_citation', url_citation: { start_index: start, end_index: end, title, url: textOf(source.url) } }]
  })
}
