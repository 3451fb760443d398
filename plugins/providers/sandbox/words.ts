/**
 * Splits a text into words, the sandbox's tokens: a word ends before white space and after a comma or a colon, so that JSON has words
 * too. Joined, the words are the text.
 */
export const splitWords = (text: string): string[] => text.match(/\s*(?:[^\s,:]+[,:]*|[,:]+)|\s+/g) ?? []

/** The number of words of `splitWords`, without creating them. */
export function countWords(text: string): number {
  let count = text === '' ? 0 : 1
  let before = kindOf(text, 0)
  for (let at = 1; at < text.length; at++) {
    const kind = kindOf(text, at)
    if ((before === 'mark' && kind !== 'mark') || (before === 'letter' && kind === 'space')) count++
    before = kind
  }
  return count
}

function kindOf(text: string, at: number): 'mark' | 'space' | 'letter' {
  const code = text.charCodeAt(at)
  if (code === 0x2c || code === 0x3a) return 'mark'
  if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) return 'space'
  return code > 0x7f && /\s/.test(text.charAt(at)) ? 'space' : 'letter'
}
