/** A text, where an upstream's value is one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The JSON of a call's arguments: of a tool that takes none Cohere writes nothing, or `null`. */
export function toArguments(json: string): string {
  return json.trim() === '' || json.trim() === NOTHING ? '{}' : json
}

/** Whether the arguments that have come so far may yet turn out to be none. */
export function mayBeNothing(json: string): boolean {
  return NOTHING.startsWith(json.trim())
}

const NOTHING = 'null'
