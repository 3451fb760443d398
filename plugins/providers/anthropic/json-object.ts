import {
  type ChatMessage,
  chunk,
  KeptText,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'

/**
 * `response_format: json_object` for models that write JSON by a schema only, or not at all: an instruction asks for the object, and of the
 * reply the client gets the object alone. It joins the system prompt.
 */
export const JSON_INSTRUCTION: ChatMessage = {
  role: 'system',
  content: 'Answer with a single JSON object and nothing else: no words before or after it, and no code fence.',
}

/** A translator whose text is the JSON object in the text of another's. A text without an object stays as it is. */
export function onlyJsonObject(translator: Translator): Translator {
  const text = new JsonObjectText()

  function* restrict(part: TranslatedChunk): Generator<TranslatedChunk> {
    const [choice] = part.choices
    if (choice?.finish_reason != null) yield* chunk.fromText(chunk.content, text.end())
    if (typeof choice?.delta?.content === 'string') yield* chunk.fromText(chunk.content, text.push(choice.delta.content))
    else yield part
  }

  return {
    completion: (body, headers) => restrictWhole(translator.completion(body, headers)),
    *event(event: UpstreamEvent) {
      for (const part of translator.event(event)) yield* restrict(part)
    },
    *end() {
      for (const part of translator.end?.() ?? []) yield* restrict(part)
    },
    get over() {
      return translator.over ?? false
    },
    usage: (body) => translator.usage?.(body),
    ...(translator.decoder && { decoder: () => translator.decoder!() }),
  }
}

function restrictWhole(completion: TranslatedCompletion): TranslatedCompletion {
  const choices = completion.choices.map((choice) => {
    const { content } = choice.message
    if (typeof content !== 'string') return choice
    const text = new JsonObjectText()
    return { ...choice, message: { ...choice.message, content: text.push(content) + text.end() } }
  })
  return { ...completion, choices }
}

/** The start of an object, or what may become one. Braces in words (`{name}`) are none. */
const START = /\{\s*(?:["}]|$)/g
const IS_OBJECT = /["}]$/

/** Cuts the first JSON object out of a text that arrives in pieces. */
class JsonObjectText {
  /** The text before the object, while there is none; undefined from its start on. */
  #before: string | undefined = ''
  readonly #kept = new KeptText()
  /** Where in `#before` an object may start. */
  #from = 0
  #depth = 0
  #inString = false
  #escaped = false
  #over = false

  /** The part of the object in the next piece of the text. */
  push(piece: string): string {
    if (this.#over) return ''
    if (this.#before === undefined) return this.#cut(piece)
    const text = this.#before + this.#kept.add(piece)
    START.lastIndex = this.#from
    const start = START.exec(text)
    if (start !== null && IS_OBJECT.test(start[0])) {
      this.#before = undefined
      return this.#cut(text.slice(start.index))
    }
    this.#before = text
    this.#from = start?.index ?? text.length
    return ''
  }

  /** The text, if it has no object. */
  end(): string {
    const rest = this.#before ?? ''
    this.#before = undefined
    this.#over = true
    return rest
  }

  #cut(text: string): string {
    for (let at = 0; at < text.length; at++) {
      if (!this.#isEnd(text[at]!)) continue
      this.#over = true
      return text.slice(0, at + 1)
    }
    return text
  }

  /** Reads a character of the object; whether it is its last. */
  #isEnd(char: string): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (char === '\\') this.#escaped = true
      else if (char === '"') this.#inString = false
      return false
    }
    if (char === '"') this.#inString = true
    else if (char === '{') this.#depth++
    else if (char === '}') return --this.#depth === 0
    return false
  }
}
