import { chunk, FIN, head, pieces, RST, type Step, sse } from '../../../../core/testing/kit.ts'
import { type Dialect, splitAfter } from '../../sdk/dialect.ts'
import { CANARY, type Fault } from '../assertions.ts'
import { AUTHENTICATION, DISCONNECTED, ERROR, type Failure, INVALID, OVERLOADED, RATE_LIMITED } from '../failures.ts'

/** The first words of every broken stream. */
export const HEARD = 'Once upon'

const open = head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' })

/** How far a stream gets. */
export type Beginning = (dialect: Dialect) => readonly string[]

const tale: Beginning = ({ events }) => events({ text: [HEARD, ' a time'] })

/** A stream up to and with its first words. */
export const beginning: Beginning = (dialect) => splitAfter(tale(dialect), HEARD)[0]

/** A stream before its first content. */
export const announcement: Beginning = (dialect) => beginning(dialect).slice(0, -1)

/** The same stream without its finish. */
const unfinished: Beginning = (dialect) => tale(dialect).slice(0, -3)

/** An error event. */
const errorEvent = (type: string, code?: string): string =>
  `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message: CANARY, code: code ?? null } })}\n\n`

/** Events that end a stream badly, wherever they stand. */
export const BAD_EVENTS: readonly {
  readonly name: string
  readonly event: string
  readonly failure: Failure
  readonly retryAfter?: string
}[] = [
  { name: 'an overload', event: errorEvent('overloaded_error'), failure: OVERLOADED },
  { name: 'a rate limit', event: errorEvent('rate_limit_error'), failure: RATE_LIMITED, retryAfter: '1' },
  { name: 'a bad credential', event: errorEvent('authentication_error'), failure: AUTHENTICATION },
  { name: 'an error of an unknown kind', event: errorEvent('new_error'), failure: ERROR },
  { name: 'an event that breaks off', event: `data: {"id":"${CANARY}","choices":[{"ind\n\n`, failure: INVALID },
  { name: 'an event that is not JSON', event: `data: ${CANARY}\n\n`, failure: INVALID },
  { name: 'an event that is not an object', event: 'data: 7\n\n', failure: INVALID },
  { name: 'an event of 9 MB', event: `data: {"id":"${'x'.repeat(9 << 20)}"}\n\n`, failure: INVALID },
]

/** A stream with an end marker but without content and finish, after a beginning. */
export const emptyAfter = (begun: Beginning): Fault => ({
  name: 'ends without content',
  script: (dialect) => sse([...begun(dialect), dialect.events({}).at(-1)!]),
  failure: INVALID,
})

/** Ways to stop after a beginning. */
export const cutsAfter = (begun: Beginning): readonly Fault[] => [
  {
    name: 'resets the connection',
    script: (dialect) => [open, ...begun(dialect).map(chunk), RST],
    failure: DISCONNECTED,
  },
  {
    name: 'closes the connection',
    script: (dialect) => [open, ...begun(dialect).map(chunk), FIN],
    failure: DISCONNECTED,
  },
  { name: 'ends its body normally', script: (dialect) => sse(begun(dialect)), failure: DISCONNECTED },
  { name: 'ends its body by closing', script: (dialect) => sse(begun(dialect), { framing: 'close' }), failure: DISCONNECTED },
  {
    name: 'ends its body within an event',
    script: (dialect) => sse([...begun(dialect), begun(dialect).at(-1)!.slice(0, -2)]),
    failure: DISCONNECTED,
  },
  {
    name: 'sends a chunk without a size',
    script: (dialect) => [open, ...begun(dialect).map(chunk), `zz\r\n${CANARY}`],
    failure: INVALID,
  },
]

/** Ways to stop in the middle. */
export const CUTS: readonly Fault[] = [
  ...cutsAfter(beginning),
  { name: 'ends its body just before the finish', script: (dialect) => sse(unfinished(dialect)), failure: DISCONNECTED },
]

/** Cuts and bad events that one read of the connection brings together with the first words. */
export const SUDDEN: readonly (Fault & { readonly retryAfter?: string })[] = [
  ...CUTS.filter(({ name }) => /in order|within|before/.test(name)),
  ...BAD_EVENTS.filter(({ name }) => !name.includes('MB')).map(({ name, event, ...fault }) => ({
    ...fault,
    name: `says ${name}`,
    script: (dialect: Dialect) => sse([...beginning(dialect), event]),
  })),
].map((fault) => ({ ...fault, script: (dialect) => pieces([...(fault.script(dialect) as Iterable<Step>)], Infinity) }))
