import { type TSchema, Type } from 'typebox'
import { RATE } from '../../sdk/api.ts'
import { DURATION } from '../../text/times.ts'
import { ASSUMED_CAUSES, RETRY_CAUSES } from './retry-causes.ts'

/** An optional field with a default: validation fills the default in, so the type of the validated value has the field. */
export const defaulted = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema) as unknown as Schema

/** A duration such as `2s`. `fallback`: its default. */
export const duration = (description: string, fallback?: string) =>
  Type.String({
    title: 'a duration',
    pattern: DURATION,
    description,
    examples: ['500ms', '2s', '10m', '1h'],
    ...(fallback !== undefined && { default: fallback }),
  })

/** A rate such as `500/min`. */
export const rate = (description: string, examples: readonly string[]) =>
  Type.String({ title: 'a rate', pattern: RATE, description, examples })

/** A list of globs: names in which `*` matches any characters. */
export const globs = (options: {
  readonly description: string
  readonly examples: readonly (readonly string[])[]
  readonly default?: readonly string[]
}) => Type.Array(Type.String({ minLength: 1 }), { minItems: 1, uniqueItems: true, ...options })

/** The schema of a name that labels of metrics have, of a tag or a credential. */
export const NAME = {
  title: 'a name of lower-case letters, digits, dashes and underscores',
  pattern: '^[a-z][a-z0-9_-]{0,31}$',
} as const

/** The settings of a plugin: the plugin's own schema checks them. */
export const pluginConfig = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), { description: "The plugin's own settings: its page in the docs lists them." }),
)

/** A cause of failure. People write `429`, which YAML reads as a number. */
export const cause = Type.Enum([...RETRY_CAUSES, 429])

/** What a simulated call meets, in the same way. */
export const assumedCause = Type.Enum([...ASSUMED_CAUSES, 429])
