/** What was parsed as JSON on the event loop. */
export interface Parsing {
  /** The length of the longest text in this test, in characters. */
  readonly longest: number
  /** Forgets what was parsed so far. */
  reset(): void
  /** Parses without being watched. */
  readonly parse: typeof JSON.parse
}

/** Watches what is parsed in each test. Called in a suite. */
export function watchParsing(): Parsing {
  const { parse } = JSON
  let longest = 0
  const reset = () => {
    longest = 0
  }

  beforeEach(() => {
    reset()
    JSON.parse = (text, reviver) => {
      longest = Math.max(longest, text.length)
      return parse(text, reviver)
    }
  })

  afterEach(() => {
    JSON.parse = parse
  })

  return {
    get longest() {
      return longest
    },
    reset,
    parse,
  }
}
