import type { ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'
import { validate } from '../schema/validate.ts'
import { problemsOf } from './schema-errors.ts'
import { type LocatedNames, locateNames } from './undeclared-names.ts'

/** A namespace with several credentials, not checked. */
export interface EntryWithCredentials {
  /** The path of the namespace. */
  readonly path: Path
  readonly config: unknown
  readonly credentials: unknown
}

/** The configs of a namespace's credentials. */
export interface CheckedCredentials {
  /** By name: `config` with the credential's own fields; defaults filled in, secrets sealed. */
  readonly configs: ReadonlyMap<string, unknown>
  readonly names: readonly LocatedNames[]
  readonly problems: readonly Problem[]
}

/** Checks the config of each credential against the schema of the provider. Each mistake of the shared fields is told once. */
export function checkCredentials(
  schema: TSchema,
  { path, config, credentials }: EntryWithCredentials,
  raw: RawConfig,
): CheckedCredentials {
  const configs = new Map<string, unknown>()
  const names: LocatedNames[] = []
  const problems = new Map<string, Problem>()
  const configPath = [...path, 'config']
  for (const [name, credential] of Object.entries(asMap(credentials))) {
    // The schema of routes.yaml reports one that is not a map.
    if (typeof credential !== 'object' || credential === null || Array.isArray(credential)) continue
    const own = { fields: asMap(credential), schema }
    const merged = structuredClone({ ...asMap(config), ...own.fields })
    const validation = validate(schema, merged)
    const [ownErrors, sharedErrors] = partition(validation.errors, (error) => isErrorOf(own, error))
    const [ownSecrets, sharedSecrets] = partition(validation.secrets, ({ pointer }) => pointer.split('/')[1]! in own.fields)
    const found = [
      ...problemsOf({ errors: ownErrors, secrets: ownSecrets }, raw, [...path, 'credentials', name]),
      ...problemsOf({ errors: sharedErrors, secrets: sharedSecrets }, raw, configPath),
      ...setTwice(asMap(config), own.fields, { raw, path, name }),
    ]
    for (const problem of found) if (!problems.has(idOf(problem))) problems.set(idOf(problem), problem)
    for (const secret of validation.secrets) secret.seal()
    names.push(...locateNames(validation.names, configPath))
    configs.set(name, merged)
  }
  return { configs, names, problems: [...problems.values()] }
}

const idOf = ({ span }: Problem): string => span.join()

interface OwnFields {
  readonly fields: Readonly<Record<string, unknown>>
  readonly schema: TSchema
}

/** Whether an error is about a credential's own fields. A missing field is, if it is a secret. */
function isErrorOf({ fields, schema }: OwnFields, { instancePath, keyword, params }: ErrorObject): boolean {
  const [, field = params.additionalProperty] = instancePath.split('/')
  if (instancePath !== '' || keyword !== 'required') return field !== undefined && field in fields
  const properties = (schema as { readonly properties?: Readonly<Record<string, { readonly secret?: boolean }>> }).properties
  return properties?.[params.missingProperty]?.secret === true
}

/** Fields of `config` that a credential has too: each has one place. */
function setTwice(
  config: Readonly<Record<string, unknown>>,
  own: Readonly<Record<string, unknown>>,
  { raw, path, name }: { readonly raw: RawConfig; readonly path: Path; readonly name: string },
): readonly Problem[] {
  return Object.keys(own)
    .filter((field) => Object.hasOwn(config, field))
    .map((field) => {
      const place = [...path, 'config', field]
      const message = `${formatPath(place)} is set by the credential ${JSON.stringify(name)} too: remove one of the two`
      return { span: raw.file.keySpan(place), message, hide: raw.literals(place) }
    })
}

function partition<Each>(all: readonly Each[], isFirst: (each: Each) => boolean): readonly [readonly Each[], readonly Each[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))]
}
