import type { ChatChunk, ChunkChoice } from '../../plugin/chat.ts'

/** Writes the chunks of one stream as `JSON.stringify` would. What nearly all of them have in common is written once. */
export class ChunkWriter {
  #first: ChatChunk | undefined
  #head = ''

  write(chunk: ChatChunk): string {
    this.#first ??= this.#begin(chunk)
    if (!isLike(chunk, this.#first)) return JSON.stringify(chunk)
    return `${this.#head}${choicesText(chunk.choices)}${chunk.usage === null ? ',"usage":null}' : '}'}`
  }

  #begin(chunk: ChatChunk): ChatChunk {
    const { id, object, created, model } = chunk
    this.#head = `${JSON.stringify({ id, object, created, model }).slice(0, -1)},"choices":`
    return chunk
  }
}

/** Whether two chunks differ in their choices alone, and have no members but those of OpenAI. */
function isLike(chunk: ChatChunk, other: ChatChunk): boolean {
  const { id, object, created, model, choices, usage } = chunk
  if (id !== other.id || created !== other.created || model !== other.model || object !== other.object) return false
  return Array.isArray(choices) && usage == null && size(chunk) === (usage === null ? 6 : 5)
}

/** Nearly every chunk is a piece of text, and of that only the text need be looked through. */
function choicesText(choices: readonly ChunkChoice[]): string {
  const [choice] = choices
  if (choices.length !== 1 || !isText(choice!)) return JSON.stringify(choices)
  return `[{"index":${choice!.index},"delta":{"content":${JSON.stringify(choice!.delta.content)}},"finish_reason":null}]`
}

function isText(choice: ChunkChoice): boolean {
  const { index, delta, finish_reason } = choice
  return (
    typeof delta?.content === 'string' &&
    finish_reason === null &&
    typeof index === 'number' &&
    size(choice) === 3 &&
    size(delta) === 1
  )
}

function size(object: object): number {
  let members = 0
  for (const _ in object) members++
  return members
}
