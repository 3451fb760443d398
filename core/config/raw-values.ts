/** A map of data that is not checked yet; empty where it is none. A list is a map of its indexes. */
export function asMap(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The strings of a list that is not checked yet, each with its index; none where it is no list. */
export function asStrings(value: unknown): readonly (readonly [number, string])[] {
  return Array.isArray(value) ? [...value.entries()].filter(([, entry]) => typeof entry === 'string') : []
}
