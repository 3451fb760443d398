import { basename } from 'node:path'
import { Type } from 'typebox'
import { audit } from '../accounts/audit.ts'
import { GatewayError } from '../errors.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import { time, toTime } from './fields.ts'
import { type Route, route } from './operation.ts'

const lastReload = Type.Object({
  at: time('When it was.'),
  ok: Type.Boolean({ description: 'False: the table before stays in use.' }),
  diagnostics: Type.Array(Type.Object({ line: Type.Integer(), column: Type.Integer(), message: Type.String() }), {
    description: 'What is wrong.',
  }),
  difference: Type.Array(Type.String(), { description: 'A line for each thing that is otherwise than before.' }),
})

/** The routing table as a text. */
export const configRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/config',
    role: 'admin',
    summary: 'The routing table in use, and what came of reading it again',
    reply: Type.Object({
      file: Type.String(),
      text: Type.String({ description: 'It holds no secret: those are references, or the hashes of keys.' }),
      sha256: Type.String({ description: 'Of the text.' }),
      loaded_at: time('When it was put in use.'),
      rate_classes: Type.Array(Type.String(), {
        description: 'Those that a key or an account can be given; empty where no plugin declares any.',
      }),
      last_reload: Type.Union([lastReload, Type.Null()], { description: 'Null: it was read once, at the start.' }),
    }),
    async handle(_, services) {
      const { file, text, sha256, loadedAt, lastReload } = services.config()
      return {
        file: basename(file),
        text,
        sha256,
        loaded_at: toTime(loadedAt),
        rate_classes: services.live.generation.config.rateClasses,
        last_reload: lastReload
          ? {
              at: toTime(lastReload.at),
              ok: lastReload.ok,
              diagnostics: lastReload.diagnostics.map(({ line, column, message }) => ({ line, column, message })),
              difference: lastReload.difference,
            }
          : null,
      }
    },
  }),
]

/** Where routes stand that act on the process, as in Prometheus. */
export const PROCESS = '/-'

/** The table was not loaded; the reply says all that is wrong with it. */
class ReloadRefused extends GatewayError {
  readonly #diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('invalid_routes', { values: { errors: diagnostics.length } })
    this.#diagnostics = diagnostics
  }

  override toJSON() {
    return { ...super.toJSON(), diagnostics: this.#diagnostics }
  }
}

const reload = route({
  method: 'POST',
  path: '/reload',
  role: 'admin',
  summary: 'Reads the routing table again',
  reply: Type.Object({
    sha256: Type.String({ description: 'Of the text of the table that is in use now.' }),
    difference: Type.Array(Type.String(), { description: 'A line for each thing that is otherwise than before.' }),
  }),
  async handle({ caller }, { reload, config, store }) {
    const before = config()
    const { ok, diagnostics, difference } = await reload('request')
    if (!ok) throw new ReloadRefused(diagnostics)
    const { file, sha256 } = config()
    const object = { type: 'config', id: null, name: basename(file) } as const
    await audit(store.db, caller, { action: 'config.reload', object, changes: { sha256: [before.sha256, sha256] } })
    return { sha256, difference }
  },
})

/** What an admin may do to the process. */
export const PROCESS_ROUTES: readonly Route[] = [reload]
