import { basename } from 'node:path'
import { Type } from 'typebox'
import { audit } from '../accounts/audit.ts'
import { GatewayError } from '../errors.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import { nullable, time, toTime } from './fields.ts'
import { type Operation, operation } from './operation.ts'
import type { ManagementServices, ReloadOutcome } from './services.ts'

const difference = Type.Array(Type.String(), { description: 'A line for each change.' })

const diagnosticSchema = Type.Object(
  {
    line: Type.Integer(),
    column: Type.Integer(),
    message: Type.String(),
    frame: Type.String({ description: 'The lines of the refused text around it.' }),
  },
  { title: 'Diagnostic', description: 'An error in routes.yaml; lines and columns count from 1.' },
)

const reloadSchema = Type.Object({
  at: time('When it happened.'),
  ok: Type.Boolean({ description: 'False: the previous configuration stays in use.' }),
  diagnostics: Type.Array(diagnosticSchema, { description: 'The errors.' }),
  difference,
})

const fields = {
  file: Type.String({ description: "The file's name." }),
  sha256: Type.String({ description: 'Of the text.' }),
  loaded_at: time('When it was loaded.'),
  rate_classes: Type.Array(Type.String(), {
    description: 'The rate classes that a key or an account can have; empty if no plugin declares any.',
  }),
}

const configSchema = Type.Object(
  {
    ...fields,
    text: Type.String({ description: 'It contains no secret: only references to secrets, and the hashes of keys.' }),
    last_reload: nullable(reloadSchema, 'Null: not reloaded since the start.'),
  },
  { title: 'Config' },
)

const configStateSchema = Type.Object(
  {
    ...fields,
    last_reload: nullable(Type.Pick(reloadSchema, ['at', 'ok']), 'Null: not reloaded since the start.'),
  },
  { title: 'ConfigState' },
)

/** routes.yaml as a text. */
export const configOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/config',
    access: 'admin',
    summary: 'Get the routes.yaml in use, and the outcome of the last reload',
    reply: configSchema,
    async handle(_, services) {
      const { text, lastReload } = services.config()
      return { ...stateView(services), text, last_reload: lastReload ? reloadView(lastReload) : null }
    },
  }),
  operation({
    method: 'GET',
    path: '/config/state',
    access: 'admin',
    summary: 'Get which routes.yaml is in use, and whether the last reload succeeded',
    reply: configStateSchema,
    async handle(_, services) {
      const { lastReload } = services.config()
      const reload = lastReload && { at: toTime(lastReload.at), ok: lastReload.ok }
      return { ...stateView(services), last_reload: reload ?? null }
    },
  }),
]

/** What can be asked for often: a file may have megabytes. */
function stateView({ config, live }: ManagementServices) {
  const { file, sha256, loadedAt } = config()
  return {
    file: basename(file),
    sha256,
    loaded_at: toTime(loadedAt),
    rate_classes: live.generation.config.rateClasses,
  }
}

const reloadView = ({ at, ok, diagnostics, difference }: ReloadOutcome) => ({
  at: toTime(at),
  ok,
  diagnostics: diagnostics.map(({ line, column, message, frame }) => ({ line, column, message, frame })),
  difference,
})

/** The path below which the process is controlled, as in Prometheus. */
export const LIFECYCLE_BASE = '/-'

/** Operations on the process. */
export const lifecycleOperations: readonly Operation[] = [
  operation({
    method: 'POST',
    path: '/reload',
    access: 'admin',
    summary: 'Reload routes.yaml',
    reply: Type.Object({
      sha256: Type.String({ description: 'Of the text in use now.' }),
      difference,
    }),
    async handle({ caller }, { reload, config, store }) {
      const before = config()
      const { ok, diagnostics, difference } = await reload('request')
      if (!ok) throw new ReloadError(diagnostics)
      const { file, sha256 } = config()
      const object = { type: 'config', id: null, name: basename(file) } as const
      await audit(store.db, caller, { action: 'config.reload', object, changes: { sha256: [before.sha256, sha256] } })
      return { sha256, difference }
    },
  }),
]

/** A failed reload; the reply has all errors of routes.yaml. */
class ReloadError extends GatewayError {
  readonly #diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('invalid_routes', { values: { errors: diagnostics.length } })
    this.#diagnostics = diagnostics
  }

  override toJSON() {
    return { ...super.toJSON(), diagnostics: this.#diagnostics }
  }
}
