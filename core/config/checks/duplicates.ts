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

/** For each entry, the index of the first one that equals it. */
function firstsOf(entries: readonly unknown[]): readonly number[] {
  const firsts = new Map<unknown, number>()
  return entries.map((entry, index) => {
    const first = firsts.get(entry) ?? index
    firsts.set(entry, first)
    return first
  })
}

function duplicateTargets({ routes }: ModelNames): readonly Duplicate[] {
  return [...routes.values()].flatMap(({ targets }) => {
    const firsts = firstsOf(targets.map(({ id }) => id))
    return targets.flatMap(({ path }, index): readonly Duplicate[] => {
      const first = firsts[index]
      return first === index ? [] : [[path, `is the same as targets[${first}]; keep one of them, with the sum of their weights`]]
    })
  })
}

/** Expectations of one model that name the same failures. */
function duplicateExpectations({ values }: RawConfig): readonly Duplicate[] {
  return Object.entries(asMap(asMap(values).expect)).flatMap(([model, expected]) => {
    if (!Array.isArray(expected)) return []
    const firsts = firstsOf(expected.map(failuresOf))
    return expected.flatMap((expectation: unknown, index): readonly Duplicate[] => {
      const first = firsts[index]
      // A misspelt "failing" is reported by the schema.
      const isMisspelt = Object.keys(asMap(expectation)).some((field) => !['failing', 'to'].includes(field))
      return first === index || isMisspelt
        ? []
        : [[['expect', model, index], `has the same failures as [${first}]; keep one of them`]]
    })
  })
}

/** The same text for the same failures. The causes are texts: YAML reads `429` as a number. */
const failuresOf = (expectation: unknown): string =>
  JSON.stringify(
    Object.entries(asMap(asMap(expectation).failing))
      .map(([name, cause]) => [name, String(cause)])
      .sort(),
  )

/** Keys with the same name or hash: usage is counted by name, and a caller is found by hash. */
function duplicateKeys(raw: RawConfig): readonly Duplicate[] {
  const keys = Object.values(asMap(asMap(raw.values).keys)).map(asMap)
  return (['name', 'hash'] as const).flatMap((field) => {
    const firsts = firstsOf(keys.map((key) => key[field]))
    return keys.flatMap((key, index): readonly Duplicate[] => {
      const path: Path = ['keys', index, field]
      const first = firsts[index]
      if (key[field] === undefined || first === index || raw.isUnset(path)) return []
      return [[path, `is the same as keys[${first}].${field}; each key needs its own`]]
    })
  })
}

/** Budgets of one key or account for the same unit: the larger one would have no effect. */
function duplicateBudgets({ values }: RawConfig): readonly Duplicate[] {
  const { keys, accounts } = asMap(values)
  const ofKeys = Object.entries(asMap(keys)).map(([index, key]) => [['keys', Number(index), 'budget'], key] as const)
  const ofAccounts = Object.entries(asMap(accounts)).map(([id, account]) => [['accounts', id, 'budget'], account] as const)
  return [...ofKeys, ...ofAccounts].flatMap(([path, owner]) => {
    const budgets = asStrings(asMap(owner).budget)
    const units = budgets.map(([, budget]) => budget.split('/')[1])
    const firsts = firstsOf(units)
    return budgets.flatMap(([index], place): readonly Duplicate[] => {
      const first = firsts[place]!
      if (first === place) return []
      return [[[...path, index], `is per ${units[place]}, as is [${budgets[first]![0]}]; keep one of them`]]
    })
  })
}
