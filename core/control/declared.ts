import { Type } from 'typebox'
import { GatewayError } from '../errors.ts'
import { type Position, placeOf } from '../text/diagnostic.ts'

/** Where an object is declared. */
export const source = Type.String({
  description: '`database`, or the line of routes.yaml that declares it: there it can be changed.',
  examples: ['routes.yaml:71'],
})

/** The `source` of an object. `at`: its place in routes.yaml; undefined: it is in the database. */
export const sourceOf = (at: Position | undefined): string => (at === undefined ? 'database' : placeOf(at))

/** The `conflict` of a change of an object that routes.yaml declares. */
export const changedInFile = (what: 'account' | 'key', at: Position): GatewayError =>
  new GatewayError('conflict', { values: { detail: `This ${what} is declared in ${sourceOf(at)}: change it there.` } })
