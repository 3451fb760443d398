/** A block of thinking and its place: the characters of the answer's text before it. Claude signs each block for its place. */
export interface Placed<Block> {
  readonly block: Block
  readonly after: number
}

/** The places as a state keeps them; absent if all blocks stand before the text. */
export const placesOf = (thinking: readonly Placed<unknown>[]): { readonly after?: readonly number[] } =>
  thinking.some(({ after }) => after > 0) ? { after: thinking.map(({ after }) => after) } : {}

/** Blocks with the places that a state has for them. */
export function placed<Block>(blocks: readonly Block[], after: unknown): Placed<Block>[] {
  const places: readonly unknown[] = Array.isArray(after) ? after : []
  return blocks.map((block, index) => {
    const place = places[index]
    return { block, after: typeof place === 'number' && place > 0 ? place : 0 }
  })
}

/** How a wire's blocks hold text. */
export interface TextBlocks<Block> {
  /** The text of a block; undefined for one of another kind. */
  read(block: Block): string | undefined
  /** The block with another text; none for a blank one. */
  write(block: Block, text: string): readonly Block[]
}

/** The blocks of an answer with its thinking at its places. Places beyond the text are its end: a client may have cut it. */
export function withThinking<Block>(
  blocks: readonly Block[],
  thinking: readonly Placed<Block>[],
  texts: TextBlocks<Block>,
): Block[] {
  const all: Block[] = []
  const waiting = [...thinking]
  let passed = 0
  const think = (): void => {
    while (waiting.length > 0 && waiting[0]!.after <= passed) all.push(waiting.shift()!.block)
  }
  for (const block of blocks) {
    const text = texts.read(block) ?? ''
    const [begin, end] = [passed, passed + text.length]
    let from = begin
    think()
    while (waiting.length > 0 && waiting[0]!.after < end) {
      passed = waiting[0]!.after
      all.push(...texts.write(block, text.slice(from - begin, passed - begin)))
      from = passed
      think()
    }
    all.push(...(from === begin ? [block] : texts.write(block, text.slice(from - begin))))
    passed = end
  }
  return [...all, ...waiting.map(({ block }) => block)]
}
