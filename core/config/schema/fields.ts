import { type TSchema, Type } from 'typebox'
import { DURATION } from '../../text/times.ts'
import { RETRY_CAUSES } from './retry-causes.ts'

/** A field that may be left out: the check fills its default in, so whoever reads a checked table finds it there. */
export const defaulted = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema) as unknown as Schema

/** A duration such as `2s`. `fallback`: what stands for it where it is left out. */
export const duration = (description: string, fallback?: string) =>
  Type.String({
    title: 'a duration',
    pattern: DURATION,
    description,
    examples: ['500ms', '2s', '10m', '1h'],
    ...(fallback !== undefined && { default: fallback }),
  })

/** A list of names in which `*` stands for any characters. */
export const globs = (options: { readonly description: string; readonly examples: readonly (readonly string[])[] }) =>
  Type.Array(Type.String({ minLength: 1 }), { minItems: 1, uniqueItems: true, ...options })

/** The settings of a plugin, which its own schema checks. */
export const pluginConfig = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), { description: "The plugin's own settings: its page in the docs lists them." }),
)

/** A cause of failure. YAML reads `429` as a number, which is what people write. */
export const cause = Type.Enum([...RETRY_CAUSES, 429])
