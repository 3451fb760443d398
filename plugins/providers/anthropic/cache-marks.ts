import type { Block } from './wire.ts'

/** Anthropic answers 400 to more; OpenAI, which takes any number, writes the latest four. */
const MOST = 4

/** Takes the earliest cache marks out where there are too many. `contents`: in the order in which the model reads them. */
export function keepLatestMarks(contents: readonly Block[][]): void {
  let kept = 0
  for (const content of contents.toReversed()) {
    for (const [index, block] of [...content.entries()].reverse()) {
      if (!('cache_control' in block) || ++kept <= MOST) continue
      const { cache_control: _, ...unmarked } = block
      content[index] = unmarked
    }
  }
}
