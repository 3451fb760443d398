import { basename } from 'node:path'
import { Type } from 'typebox'
import { audit } from '../../accounts/audit.ts'
import type { Diagnostic } from '../../config/diagnostic.ts'
import { GatewayError } from '../../errors.ts'
import { type Route, route } from './route.ts'

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
