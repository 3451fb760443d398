import { ERRORS } from '../../error-table.ts'
import type { Problem, Span } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'
import { describeUnknown, type ModelNames, type UnknownName } from './model-names.ts'

/** Checks that expectations name existing models, namespaces and errors. Whether they hold is up to `umg routes test`. */
export function checkExpectations(raw: RawConfig, names: ModelNames): readonly Problem[] {
  return Object.entries(asMap(asMap(raw.values).expect)).flatMap(([model, expected]) => {
    const path: Path = ['expect', model]
    const unknown = names.unknownModel(model)
    if (unknown !== undefined) return [toProblem(raw.file.keySpan(path), path, unknown)]
    if (typeof expected === 'string') return checkTo(raw, path, names)
    return Object.entries(asMap(expected)).flatMap(([index, expectation]) => {
      const entry = [...path, Number(index)]
      const { failing } = asMap(expectation)
      return [
        ...Object.keys(asMap(failing)).flatMap((name) => checkFailing(raw, [...entry, 'failing', name], { names, model })),
        ...checkTo(raw, [...entry, 'to'], names),
      ]
    })
  })
}

/** `to`: the upstream model that should serve the call, or the error that should end it. */
function checkTo(raw: RawConfig, path: Path, names: ModelNames): readonly Problem[] {
  const to = raw.quotable(path)
  if (to === undefined) return []
  const span = raw.file.valueSpan(path)
  if (!to.includes('/')) {
    if (to === '' || Object.hasOwn(ERRORS, to)) return []
    const reason = 'is neither a model id (<namespace>/<model>) nor the name of an error'
    return [toProblem(span, path, { name: to, reason, known: Object.keys(ERRORS) })]
  }
  const reason = 'is a curated model; name the upstream model that should serve its calls'
  const unknown = names.routes.has(to) ? { name: to, reason } : names.unknownModel(to)
  return unknown === undefined ? [] : [toProblem(span, path, unknown)]
}

/** `failing`: a namespace with an upstream, or a model of one, that may serve the model. */
function checkFailing(raw: RawConfig, path: Path, { names, model }: { names: ModelNames; model: string }): readonly Problem[] {
  const name = String(path.at(-1))
  const span = raw.file.keySpan(path)
  const unknown = name.includes('/') ? names.unknownModel(name) : names.unknownNamespace(name)
  if (unknown !== undefined) return [toProblem(span, path, unknown)]
  const models = [...names.upstreamModels(model)]
  const [namespace = ''] = name.split('/', 1)
  if (raw.quotable(path) === 'limited' && !raw.file.has(['namespaces', namespace, 'limits']))
    return [{ span, message: `${formatPath(path)} has no effect: the namespace has no "limits"; remove it, or set them` }]
  // If one of them is unknown, or missing by a mistake, that is the mistake to report.
  if (!names.isComplete(model)) return []
  if (models.some((id) => id === name || id.startsWith(`${name}/`) || names.unknownModel(id))) return []
  return [{ span, message: `${formatPath(path)} has no effect: it never serves ${JSON.stringify(model)}; remove it` }]
}

const toProblem = (span: Span, path: Path, unknown: UnknownName): Problem => ({
  span,
  message: `${formatPath(path)}: ${describeUnknown(unknown)}`,
})
