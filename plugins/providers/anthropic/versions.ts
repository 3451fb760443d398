import type { Call } from 'unified-model-gateway/plugin'

/** Anthropic's version is a header, which clouds have in the body instead. */
const HEADER = 'anthropic-version'

/** The first version that clouds name as Anthropic does; for earlier ones each has a name of its own (vertex-sdk and bedrock-sdk of Anthropic, 1.1.3). */
const FIRST = '2026-10-21'

/** The version of a call for the body of a cloud. `own`: its name of the first one. Versions are dates: later ones are greater as text. */
export function cloudVersion({ headers }: Call, own: string): string {
  const asked = headers[HEADER] ?? ''
  return asked >= FIRST ? asked : own
}

/** The headers of a client's call, without the version. */
export function withoutVersion({ headers }: Call): Readonly<Record<string, string>> {
  const { [HEADER]: _, ...others } = headers
  return others
}
