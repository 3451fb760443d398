import { unsupportedParameter } from 'unified-model-gateway/plugin'

/** The most sequences of a call: each character of its answer is compared with all of them. */
const MAX_SEQUENCES = 64

/** The stop sequences of a call. Throws `GatewayError` (400) if there are too many. */
export function stopSequencesOf(stop: unknown): readonly string[] {
  const sequences = [stop].flat().filter((sequence): sequence is string => typeof sequence === 'string' && sequence !== '')
  if (sequences.length > MAX_SEQUENCES) throw unsupportedParameter('stop', `Send at most ${MAX_SEQUENCES} sequences.`)
  return sequences
}

/** What can be said of a text, and the sequence that ended it. */
export interface Said {
  readonly text: string
  /** Undefined: it goes on. */
  readonly stoppedBy?: string | undefined
}

/**
 * Cuts a text that comes in pieces before the first stop sequence, which the Responses API does not do. First is the one that is complete first, as
 * for a model that stops there; so the pieces make no difference.
 */
export class StopSearch {
  readonly #sequences: readonly Sequence[]
  /** What may begin a sequence. */
  #held = ''

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences.map((text) => new Sequence(text))
  }

  /** Reads a piece. After a sequence nothing more is to be read. */
  read(piece: string): Said {
    if (this.#sequences.length === 0) return { text: piece }
    const text = this.#held + piece
    for (let at = this.#held.length; at < text.length; at++) {
      let found = ''
      for (const sequence of this.#sequences)
        if (sequence.advance(text.charCodeAt(at)) && sequence.text.length > found.length) found = sequence.text
      if (found !== '') return { text: text.slice(0, at + 1 - found.length), stoppedBy: found }
    }
    const held = this.#sequences.reduce((most, { matched }) => Math.max(most, matched), 0)
    this.#held = text.slice(text.length - held)
    return { text: text.slice(0, text.length - held) }
  }

  /** The text is over: what was held back. */
  end(): string {
    const held = this.#held
    this.#held = ''
    for (const sequence of this.#sequences) sequence.matched = 0
    return held
  }
}

/** A sequence that is sought as its characters come (Knuth, Morris and Pratt): the time does not depend on its length. */
class Sequence {
  readonly text: string
  /** How many characters of it end the text so far. */
  matched = 0
  /** By the number of matched characters, that of the longest shorter match which ends in the same place. */
  readonly #shorter: readonly number[]

  constructor(text: string) {
    this.text = text
    const shorter = [0, 0]
    for (let length = 1, known = 0; length < text.length; length++) {
      while (known > 0 && text[length] !== text[known]) known = shorter[known]!
      if (text[length] === text[known]) known++
      shorter.push(known)
    }
    this.#shorter = shorter
  }

  /** Whether it is complete with this character. */
  advance(character: number): boolean {
    while (this.matched > 0 && this.text.charCodeAt(this.matched) !== character) this.matched = this.#shorter[this.matched]!
    if (this.text.charCodeAt(this.matched) === character) this.matched++
    return this.matched === this.text.length
  }
}
