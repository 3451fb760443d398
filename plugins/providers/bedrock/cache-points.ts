import type { Block } from './wire.ts'

/** Bedrock answers 400 to more; OpenAI, which takes any number, writes the latest four. */
const MOST = 4

/** Takes the earliest cache points out where there are too many. `contents`: in the order in which the model reads them. */
export function keepLatestCachePoints(contents: readonly Block[][]): void {
  let kept = 0
  for (const content of contents.toReversed()) {
    for (let index = content.length - 1; index >= 0; index--) {
      if ('cachePoint' in content[index]! && ++kept > MOST) content.splice(index, 1)
    }
  }
}
