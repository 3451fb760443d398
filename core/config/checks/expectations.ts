import { isDeepStrictEqual } from 'node:util'
import { ERRORS } from '../../errors.ts'
import type { Path, Problem, Span } from '../file/config-file.ts'
import type { RawConfig } from '../file/raw-config.ts'
import { asMap } from '../file/raw-config.ts'
import { formatPath } from './messages.ts'
import { explainUnknown, type ModelNames, type UnknownName } from './model-names.ts'

/** Expectations of what there is not: whether they hold is another question, which `umg routes test` answers. */
export function checkExpectations(table: RawConfig, names: ModelNames): readonly Problem[] {
  return Object.entries(asMap(asMap(table.values).expect)).flatMap(([model, expected]) => {
    const path: Path = ['expect', model]
    const dead = names.unknownModel(model)
    if (dead !== undefined) return [complain(table.file.keySpan(path), path, dead)]
    if (typeof expected === 'string') return checkEnd(table, path, names)
    return Object.entries(asMap(expected)).flatMap(([index, circumstance]) => {
      const place = [...path, Number(index)]
      const { failing } = asMap(circumstance)
      return [
        ...sameAsBefore(table, place, asMap(expected)),
        ...Object.keys(asMap(failing)).flatMap((name) => checkFailing(table, [...place, 'failing', name], { names, model })),
        ...checkEnd(table, [...place, 'to'], names),
      ]
    })
  })
}

/** Where a call is expected to end: at an upstream's model, or with an error. */
function checkEnd(table: RawConfig, path: Path, names: ModelNames): readonly Problem[] {
  const end = table.quotable(path)
  if (end === undefined) return []
  const span = table.file.valueSpan(path)
  if (!end.includes('/')) {
    if (end === '' || Object.hasOwn(ERRORS, end)) return []
    const fault = 'is neither a model id (<namespace>/<model>) nor the name of an error'
    return [complain(span, path, { name: end, fault, known: Object.keys(ERRORS) })]
  }
  const fault = 'is a curated model; name the model of an upstream at which its calls end'
  const dead = names.routes.has(end) ? { name: end, fault } : names.unknownModel(end)
  return dead === undefined ? [] : [complain(span, path, dead)]
}

/** What is said to fail: a namespace with an upstream, or a model of one, that the model may be served by. */
function checkFailing(table: RawConfig, path: Path, { names, model }: { names: ModelNames; model: string }): readonly Problem[] {
  const name = String(path.at(-1))
  const span = table.file.keySpan(path)
  const dead = name.includes('/') ? names.unknownModel(name) : names.unknownNamespace(name)
  if (dead !== undefined) return [complain(span, path, dead)]
  const served = [...names.upstreamModels(model)]
  // Where one of them leads nowhere, that is the mistake.
  if (served.some((id) => id === name || id.startsWith(`${name}/`) || names.unknownModel(id))) return []
  return [{ span, message: `${formatPath(path)} has no effect: ${JSON.stringify(model)} is never served by it; remove it` }]
}

function sameAsBefore(table: RawConfig, path: Path, expected: Readonly<Record<string, unknown>>): readonly Problem[] {
  const index = Number(path.at(-1))
  const failing = (one: unknown) =>
    Object.fromEntries(Object.entries(asMap(asMap(one).failing)).map(([name, cause]) => [name, String(cause)]))
  const first = Object.values(expected).findIndex((other) => isDeepStrictEqual(failing(other), failing(expected[String(index)])))
  if (first === index) return []
  return [
    {
      span: table.file.valueSpan(path),
      message: `${formatPath(path)} speaks of the same failures as [${first}]; keep one of them`,
    },
  ]
}

const complain = (span: Span, path: Path, dead: UnknownName): Problem => ({
  span,
  message: `${formatPath(path)}: ${explainUnknown(dead)}`,
})
