import { event } from './support.ts'

/** A block of a reply, whole and as the deltas of its stream. */
export interface Block {
  readonly whole: object
  readonly start?: object
  readonly deltas: readonly object[]
}

/** Words. */
export const text = (...pieces: readonly string[]): Block => ({
  whole: { text: pieces.join('') },
  deltas: pieces.map((piece) => ({ text: piece })),
})

/** A tool call; without pieces, it has no arguments. */
export const tool = (toolUseId: string, name: string, ...pieces: readonly string[]): Block => ({
  whole: { toolUse: { toolUseId, name, input: JSON.parse(pieces.join('') || '{}') } },
  start: { toolUse: { toolUseId, name } },
  deltas: ['', ...pieces].map((input) => ({ toolUse: { input } })),
})

/** The signature of all reasoning. */
export const SIGNATURE = 'c2lnbmVkIHRob3VnaHQ='

/** Signed reasoning. */
export const reasoning = (...pieces: readonly string[]): Block => ({
  whole: { reasoningContent: { reasoningText: { text: pieces.join(''), signature: SIGNATURE } } },
  deltas: [...pieces.map((piece) => ({ reasoningContent: { text: piece } })), { reasoningContent: { signature: SIGNATURE } }],
})

/** A reply of Converse, whole and as the frames of ConverseStream. */
export function reply(
  blocks: readonly Block[],
  stopReason = 'end_turn',
  usage: object = { inputTokens: 12, outputTokens: 7, totalTokens: 19 },
) {
  const metrics = { latencyMs: 12 }
  return {
    whole: { output: { message: { role: 'assistant', content: blocks.map(({ whole }) => whole) } }, stopReason, usage, metrics },
    stream: [
      event({ messageStart: { role: 'assistant' } }),
      ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
        ...(start ? [event({ contentBlockStart: { contentBlockIndex, start } })] : []),
        ...deltas.map((delta) => event({ contentBlockDelta: { contentBlockIndex, delta } })),
        event({ contentBlockStop: { contentBlockIndex } }),
      ]),
      event({ messageStop: { stopReason } }),
      event({ metadata: { usage, metrics } }),
    ],
  }
}
