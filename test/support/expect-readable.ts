import { expect } from 'chai'
import type { ChatChunk } from 'unified-model-gateway/plugin'

/** Expects chunks to have strings wherever clients expect strings. */
export function expectReadable(chunks: readonly ChatChunk[]): void {
  for (const { delta } of chunks.flatMap(({ choices }) => choices)) {
    const { content, reasoning_content, tool_calls = [] } = delta
    for (const { index } of tool_calls) expect(index).to.be.a('number')
    const called = tool_calls.flatMap(({ id, function: { name, arguments: json } = {} }) => [id, name, json])
    for (const text of [content, reasoning_content, ...called]) if (text !== undefined) expect(text).to.be.a('string')
  }
}
