import { matchesGlob, Type } from 'unified-model-gateway/plugin'

/** The option `betas` of a config. */
export const betasOption = (absent: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: `Globs of the values of \`anthropic-beta\` that the upstream knows: the others are left out and named. Absent: ${absent}.`,
      examples: [['context-1m-*', 'interleaved-thinking-*']],
    }),
  )

/** The headers of a request, and the values that are left out, as `x-umg-params-dropped` names them. */
export interface FittedBetas {
  readonly headers: Readonly<Record<string, string>>
  readonly dropped: readonly string[]
}

/** The header with a client's betas. */
export const BETA_HEADER = 'anthropic-beta'

/** What may stand in a reply's header. */
const NAMEABLE = /^[\w.-]{1,100}$/

/**
 * A client's headers for an upstream that answers 400 to a value of `anthropic-beta` that it does not know. `known`: globs of those that it
 * knows. `renamed`: its own names of others.
 */
export function fitBetas(
  headers: Readonly<Record<string, string>>,
  known: readonly string[],
  renamed: Readonly<Record<string, string>> = {},
): FittedBetas {
  const { [BETA_HEADER]: sent, ...others } = headers
  if (sent === undefined) return { headers, dropped: [] }
  const asked = sent
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
    .map((value) => (Object.hasOwn(renamed, value) ? renamed[value]! : value))
  const isKnown = (value: string): boolean => known.some((glob) => matchesGlob(glob, value))
  const kept = [...new Set(asked.filter(isKnown))]
  const lost = asked.filter((value) => !isKnown(value))
  return {
    headers: kept.length === 0 ? others : { ...others, [BETA_HEADER]: kept.join(',') },
    dropped: [...new Set(lost.map((value) => (NAMEABLE.test(value) ? `${BETA_HEADER}.${value}` : BETA_HEADER)))],
  }
}
