import { distance } from 'fastest-levenshtein'

/** `; did you mean "timeouts"?` if one of the names is near to the word; else an empty string. */
export function didYouMean(word: string, names: readonly string[]): string {
  const near = nearest(word, names)
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`
}

/** `"a", "b" or "c"` */
export function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value))
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`
}

/** The name nearest to a word; undefined if none is near enough to be meant. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const most = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length * 0.4))
  const written = normalized(word)
  const ranked = names
    .map((name) => ({ name, away: edits(written, normalized(name)) }))
    .filter(({ away }) => away <= most)
    .sort((a, b) => a.away - b.away)
  return ranked[0]?.name
}

/** Letters in the wrong order count as one edit: else `no` would be as far from `on` as any other word. */
function edits(word: string, name: string): number {
  const isShuffled = word !== name && word.length === name.length && [...word].sort().join('') === [...name].sort().join('')
  return isShuffled ? 1 : distance(word, name)
}

/** `base_url`, `base-url` and `baseURL` all mean `baseUrl`, and `gpt-55` means `gpt-5.5`. */
function normalized(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, '')
}
