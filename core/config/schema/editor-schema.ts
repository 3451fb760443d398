import type { TSchema } from 'typebox'
import type { ChainPlugin, ProviderPlugin } from '../../sdk/api.ts'
import { closed } from './closed.ts'
import { UPSTREAM_FIELDS } from './namespace.ts'
import { routesSchema } from './routes-yaml.ts'

/** A part of a JSON Schema. */
type Part = Readonly<Record<string, unknown>>

/** Plugins by their names in routes.yaml. */
export interface NamedPlugins {
  readonly chain: ReadonlyMap<string, ChainPlugin>
  readonly provider: ReadonlyMap<string, ProviderPlugin>
}

/** A reference to a value outside routes.yaml. */
const REFERENCE = { type: 'string', pattern: '\\$\\{[^}]+\\}' }

/**
 * The schema of routes.yaml for editors, as JSON Schema 2020-12: closed at every level, with the schemas of these plugins' configs
 * merged in, and `${…}` allowed for every scalar. `umg validate` finds more errors than a schema can.
 */
export function editorSchema(plugins: NamedPlugins): Part {
  const schema = forEditor(closed(routesSchema), '#') as Part & { readonly properties: Readonly<Record<string, Part>> }
  const { chain, namespaces } = schema.properties
  const [[anyName, namespace]] = Object.entries(namespaces!.patternProperties as Part) as [[string, Part]]
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'routes.yaml of the Unified Model Gateway',
    ...schema,
    properties: {
      ...schema.properties,
      chain: { ...chain, items: withConfigs(chain!.items as Part, 'plugin', plugins.chain) },
      namespaces: {
        ...namespaces,
        patternProperties: { [anyName]: { ...withConfigs(namespace, 'provider', plugins.provider), ...TWO_KINDS } },
      },
    },
    $defs: { ...definitions('plugin', plugins.chain), ...definitions('provider', plugins.provider) },
  }
}

/** A namespace has a provider, or curated models. */
const TWO_KINDS: Part = {
  if: { required: ['provider'] },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
  then: { properties: { models: { type: 'array' } } },
  else: {
    required: ['models'],
    properties: { models: { type: 'object' }, ...Object.fromEntries(UPSTREAM_FIELDS.map((field) => [field, false])) },
  },
}

/** An entry that names a plugin, with the schema of its `config` by that name. */
function withConfigs(entry: Part, field: string, plugins: NamedPlugins[keyof NamedPlugins]): Part {
  const properties = entry.properties as Readonly<Record<string, Part>>
  const names = [...plugins.keys()]
  return {
    ...entry,
    properties: { ...properties, [field]: { ...properties[field], anyOf: [{ enum: names }, { type: 'string' }] } },
    allOf: [...plugins].map(([name, { schema }]) => ({
      if: { required: [field], properties: { [field]: { const: name } } },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
      then: {
        properties: configsOf(properties, { $ref: `#/$defs/${pointerTo(field, name)}` }),
        allOf: [requiredFields(schema as Part, 'credentials' in properties)],
      },
    })),
  }
}

/** The `config` of a plugin, and the credentials that have fields of it. */
const configsOf = ({ credentials }: Readonly<Record<string, Part>>, config: Part): Part =>
  credentials === undefined ? { config } : { config, credentials: { additionalProperties: config } }

/** The fields that a config must have, each credential's or the shared one. */
function requiredFields({ required }: Part, mayHaveCredentials: boolean): Part {
  if (required === undefined) return {}
  const inConfig = { required: ['config'], properties: { config: { required } } }
  if (!mayHaveCredentials) return inConfig
  return { if: { required: ['credentials'] }, else: inConfig }
}

function definitions(field: string, plugins: NamedPlugins[keyof NamedPlugins]): Part {
  return Object.fromEntries(
    [...plugins].map(([name, { schema }]) => {
      // A credential has some of the fields: `requiredFields` are those of the whole.
      const { required: _, ...part } = closed(schema) as Part
      return [keyOf(field, name), forEditor(part, `#/$defs/${pointerTo(field, name)}`)]
    }),
  )
}

const keyOf = (field: string, name: string): string => `${field}:${name}`

/** RFC 6901, in a URI. */
const pointerTo = (field: string, name: string): string =>
  encodeURI(keyOf(field, name).replaceAll('~', '~0').replaceAll('/', '~1'))

/** Keywords that only the gateway knows, and keywords that are allowed only at the root of a schema. */
const OURS = ['secret', 'declares', 'refersTo', '$id', '$schema']
const ONE = ['items', 'additionalProperties', 'if', 'then', 'else', 'not', 'contains', 'unevaluatedProperties']
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const MAPS = ['properties', 'patternProperties', '$defs', 'dependentSchemas']

/** A schema with `${…}` allowed for its scalars. `root`: the pointer to its root in the whole schema. */
function forEditor(schema: TSchema | Part, root: string): unknown {
  const part = Object.entries(schema as Part).filter(([keyword]) => !OURS.includes(keyword))
  const own = Object.fromEntries(part.map(([keyword, value]) => [keyword, subschemas(keyword, value, root)]))
  if ((schema as Part).secret === true) return { ...own, ...REFERENCE }
  if (!isScalar(own)) return own
  const { title, description, default: fallback, examples, ...checks } = own
  return JSON.parse(JSON.stringify({ title, description, default: fallback, examples, anyOf: [checks, REFERENCE] }))
}

function subschemas(keyword: string, value: unknown, root: string): unknown {
  if (keyword === '$ref') return String(value).replace(/^#/, root)
  if (LISTS.includes(keyword)) return (value as readonly Part[]).map((one) => forEditor(one, root))
  if (MAPS.includes(keyword))
    return Object.fromEntries(
      Object.entries(value as Readonly<Record<string, Part>>).map(([name, one]) => [name, forEditor(one, root)]),
    )
  return ONE.includes(keyword) && typeof value === 'object' ? forEditor(value as Part, root) : value
}

/** Whether a schema allows only scalars, and not every string. */
function isScalar({ type, enum: choices, const: only, pattern, format }: Part): boolean {
  const isText = type === 'string' && (pattern !== undefined || format !== undefined)
  return isText || choices !== undefined || only !== undefined || ['number', 'integer', 'boolean'].includes(String(type))
}
