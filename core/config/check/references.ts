import { didYouMean } from '../../suggest.ts'
import { matchesGlob } from '../../glob.ts'
import { asMap, asStrings } from '../loose.ts'
import type { Table } from '../table.ts'
import type { Path, Problem } from '../text/source.ts'
import { where } from './sentences.ts'

/** Names in the table that lead nowhere: namespaces of links, aliases and keys, and models that an allow-list leaves out. */
export function checkReferences(table: Table): readonly Problem[] {
  const { chain, aliases, keys } = asMap(table.data)
  return [
    ...Object.entries(asMap(chain)).flatMap(([index, link]) => checkWhen(table, Number(index), link)),
    ...Object.entries(asMap(aliases)).flatMap(([alias, id]) => checkAlias(table, alias, id)),
    ...Object.entries(asMap(keys)).flatMap(([index, key]) => checkKeyModels(table, Number(index), key)),
  ]
}

function checkWhen(table: Table, index: number, link: unknown): readonly Problem[] {
  const { namespaces } = asMap(asMap(link).when)
  return asStrings(namespaces).flatMap(([entry, name]) =>
    checkNamespace(table, ['chain', index, 'when', 'namespaces', entry], name),
  )
}

function checkAlias(table: Table, alias: string, id: unknown): readonly Problem[] {
  // One without a slash is the schema's to refuse.
  if (typeof id !== 'string' || !id.includes('/')) return []
  const path = ['aliases', alias]
  const [namespace, model] = split(id)
  const unknown = checkNamespace(table, path, namespace)
  if (unknown.length > 0) return unknown
  const allowed = asStrings(asMap(namespacesOf(table)?.[namespace]).models).map(([, glob]) => glob)
  if (allowed.length === 0 || allowed.some((glob) => matchesGlob(glob, model)) || table.isUnset(path)) return []
  return [complaint(table, path, { name: model, fault: 'is not among the models that its namespace allows', known: allowed })]
}

function checkKeyModels(table: Table, index: number, key: unknown): readonly Problem[] {
  return asStrings(asMap(key).models).flatMap(([entry, glob]) => {
    const path = ['keys', index, 'models', entry]
    const [namespace] = split(glob)
    if (namespace.includes('*')) return []
    if (glob.includes('/')) return checkNamespace(table, path, namespace)
    return [complaint(table, path, { name: glob, fault: 'is no model id: write <namespace>/<model>, or <namespace>/* for all' })]
  })
}

function checkNamespace(table: Table, path: Path, name: string): readonly Problem[] {
  const namespaces = namespacesOf(table)
  // Without any, the mistake is another one: the section is misspelt or missing.
  if (namespaces === undefined || Object.hasOwn(namespaces, name) || table.isUnset(path)) return []
  return [complaint(table, path, { name, fault: 'is no namespace', known: Object.keys(namespaces) })]
}

interface Complaint {
  readonly name: string
  readonly fault: string
  readonly known?: readonly string[]
}

/** What a `${…}` gave is a secret: it is neither quoted nor compared aloud. */
function complaint(table: Table, path: Path, { name, fault, known = [] }: Complaint): Problem {
  const span = table.source.value(path)
  if (table.quotable(path) === undefined) return { span, message: `${where(path)}: what the reference gives ${fault}` }
  return { span, message: `${where(path)}: ${JSON.stringify(name)} ${fault}${didYouMean(name, known)}` }
}

function namespacesOf(table: Table): Readonly<Record<string, unknown>> | undefined {
  const { namespaces } = asMap(table.data)
  return namespaces === undefined ? undefined : asMap(namespaces)
}

/** A model id at its first slash. */
function split(id: string): readonly [namespace: string, model: string] {
  const [namespace = '', ...model] = id.split('/')
  return [namespace, model.join('/')]
}
