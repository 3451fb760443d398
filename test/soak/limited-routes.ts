import { createSecret } from '../../core/keys/format.ts'
import { digestOf } from '../../core/text/ids.ts'
import { namespaceOf } from './plain-routes.ts'

/** A routes.yaml with limits, and the keys of its callers by their names. */
export interface LimitedRoutes {
  readonly table: string
  readonly keys: Readonly<Record<string, string>>
}

/**
 * A routes.yaml with a namespace, a class with these limits and a key for each name: `{ few: '{ requests: 60/min }' }`. The keys are
 * declared in it, so that gateways with databases of their own have the same ones.
 */
export function limitedRoutes(limits: Readonly<Record<string, string>>): LimitedRoutes {
  const names = Object.keys(limits)
  const keys = Object.fromEntries(names.map((name) => [name, createSecret('live')]))
  const linesOf = (line: (name: string) => string) => names.map(line).join('')
  const table = `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config:
      default: ${names[0]}
      classes:
${linesOf((name) => `        ${name}: ${limits[name]}\n`)}namespaces:
${linesOf((name) => namespaceOf(name))}keys:
${linesOf((name) => `  - { name: ${name}, kind: live, hash: "sha256:${digestOf(keys[name]!)}", models: ["*"], class: ${name} }\n`)}`
  return { table, keys }
}
