import { isDeepStrictEqual } from 'node:util'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, asStrings, type RawConfig } from '../file/raw-config.ts'
import type { ModelNames } from './model-names.ts'

/** Finds entries that are there twice: targets of a curated model, expectations, names and hashes of keys, and budgets of a key or an account. */
export function findDuplicates(raw: RawConfig, names: ModelNames): readonly Problem[] {
  return [...duplicateTargets(names), ...duplicateExpectations(raw), ...duplicateKeys(raw), ...duplicateBudgets(raw)].map(
    ([path, why]) => ({
      span: raw.file.valueSpan(path),
      message: `${formatPath(path)} ${why}`,
    }),
  )
}

type Duplicate = readonly [Path, why: string]

function duplicateTargets({ routes }: ModelNames): readonly Duplicate[] {
  return [...routes.values()].flatMap(({ targets }) =>
    targets.flatMap(({ path, id }, index): readonly Duplicate[] => {
      const first = targets.findIndex((target) => target.id === id)
      return first === index ? [] : [[path, `is the same as targets[${first}]; keep one of them, with the sum of their weights`]]
    }),
  )
}

/** Expectations of one model that name the same failures. */
function duplicateExpectations({ values }: RawConfig): readonly Duplicate[] {
  return Object.entries(asMap(asMap(values).expect)).flatMap(([model, expected]) => {
    if (!Array.isArray(expected)) return []
    const failures = expected.map(failuresOf)
    return failures.flatMap((failing, index): readonly Duplicate[] => {
      const first = failures.findIndex((other) => isDeepStrictEqual(other, failing))
      // A misspelt "failing" is reported by the schema.
      const isMisspelt = Object.keys(asMap(expected[index])).some((field) => !['failing', 'to'].includes(field))
      return first === index || isMisspelt
        ? []
        : [[['expect', model, index], `has the same failures as [${first}]; keep one of them`]]
    })
  })
}

/** The causes as text: YAML reads `429` as a number. */
const failuresOf = (expectation: unknown): unknown =>
  Object.fromEntries(Object.entries(asMap(asMap(expectation).failing)).map(([name, cause]) => [name, String(cause)]))

/** Keys with the same name or hash: usage is counted by name, and a caller is found by hash. */
function duplicateKeys(raw: RawConfig): readonly Duplicate[] {
  const keys = Object.values(asMap(asMap(raw.values).keys)).map(asMap)
  return (['name', 'hash'] as const).flatMap((field) =>
    keys.flatMap((key, index): readonly Duplicate[] => {
      const path: Path = ['keys', index, field]
      const first = keys.findIndex((other) => other[field] === key[field])
      if (key[field] === undefined || first === index || raw.isUnset(path)) return []
      return [[path, `is the same as keys[${first}].${field}; each key needs its own`]]
    }),
  )
}

/** Budgets of one key or account for the same unit: the larger one would have no effect. */
function duplicateBudgets({ values }: RawConfig): readonly Duplicate[] {
  const { keys, accounts } = asMap(values)
  const ofKeys = Object.entries(asMap(keys)).map(([index, key]) => [['keys', Number(index), 'budget'], key] as const)
  const ofAccounts = Object.entries(asMap(accounts)).map(([id, account]) => [['accounts', id, 'budget'], account] as const)
  return [...ofKeys, ...ofAccounts].flatMap(([path, owner]) => {
    const budgets = asStrings(asMap(owner).budget)
    const unitOf = (budget: string) => budget.split('/')[1]
    return budgets.flatMap(([index, budget]): readonly Duplicate[] => {
      const first = budgets.find(([, other]) => unitOf(other) === unitOf(budget))!
      if (first[0] === index) return []
      return [[[...path, index], `is per ${unitOf(budget)}, as is [${first[0]}]; keep one of them`]]
    })
  })
}
