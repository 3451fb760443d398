import { KeptText } from './translated.ts'

/** The start of an object, or what may become one. Braces in words (`{name}`) are none. */
const START = /\{\s*(?:["}]|$)/g
const IS_OBJECT = /["}]$/

/** Cuts the first JSON object out of a text that arrives in pieces. A text without an object stays as it is. */
export class JsonObjectText {
  /** The text before the object; undefined once the object has started. */
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
