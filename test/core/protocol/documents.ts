import fc from 'fast-check'

/** Texts of JSON in any spelling: spaces, escapes, letters of several bytes, strings around the lengths at which a scan changes pace. */
const space = fc.array(fc.constantFrom(' ', '\n', '\r', '\t'), { maxLength: 3 }).map((spaces) => spaces.join(''))

const CHARACTERS = [...'ab {}[]:,', 'é', '€', '😀', '\\"', '\\/', '\\n', '\\u0022', '\\ud83d', 'x'.repeat(70)]
const BACKSLASHES = ['\\\\', '\\u005c']

const quoted = (characters: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((found) => `"${found.join('')}"`)

/** The text of a string, with its quotes. */
export const stringText = quoted([...CHARACTERS, ...BACKSLASHES])

/**
 * The text of a key. None has a backslash in it: once JSON.parse has met such a key, it takes some later keys with escapes for that
 * one (nodejs/node#63785), and could not be compared with.
 */
const keyText = quoted(CHARACTERS)

const scalarText = fc.oneof(
  stringText,
  fc.constantFrom('0', '-0', '7', '-12.5', '1e5', '1E-7', '9007199254740993', '1e999', 'true', 'false', 'null'),
)

const spaced = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(space, text, space).map(([before, value, after]) => before + value + after)

const list = (items: fc.Arbitrary<string>, open: string, close: string): fc.Arbitrary<string> =>
  fc.oneof(
    space.map((inside) => open + inside + close),
    fc.array(spaced(items), { minLength: 1, maxLength: 5 }).map((texts) => open + texts.join() + close),
  )

const memberText = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(keyText, spaced(fc.constant(':')), value).map((parts) => parts.join(''))

const { valueText } = fc.letrec<{ valueText: string }>((tie) => ({
  valueText: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'json' },
    scalarText,
    list(tie('valueText'), '[', ']'),
    list(memberText(tie('valueText')), '{', '}'),
  ),
}))

/** The text of a JSON object; keys may stand twice. */
export const objectText = spaced(list(memberText(valueText), '{', '}'))
