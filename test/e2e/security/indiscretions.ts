import { json, type ReceivedRequest, RST, reply, type Script, sse } from '../../../core/testing/kit.ts'
import { type Dialect, splitAfter } from '../sdk/dialect.ts'
import { CONTENT } from './calls.ts'

const STATUSES = [302, 401, 402, 403, 404, 429, 500, 503]
const HEADERS = { location: 'https://elsewhere.example/', 'x-told': 'canary' }

/** All that an upstream was told, as it would repeat it in an error. */
const told = ({ rawHeaders, body }: ReceivedRequest): string => `I was told ${JSON.stringify(rawHeaders)} ${body}`

/** The credential alone: what a client may see of a 400 is cleaned by the shapes that keys have. */
const credential = ({ headers }: ReceivedRequest): string => `Bad key: ${headers.authorization ?? headers['x-api-key']}.`

/** A good reply, and upstreams that fail in every way and say all they know. */
export function repliesOf(dialect: Dialect, stream: boolean): ((request: ReceivedRequest) => Script)[] {
  const said = { text: [CONTENT.answer, ' Goodbye.'] }
  const [begun] = splitAfter(dialect.events(said), CONTENT.answer)
  const exhausted = { code: 'insufficient_quota', type: 'insufficient_quota' }
  return [
    () => (stream ? sse(dialect.events(said)) : json(dialect.whole(said))),
    (request) => json(dialect.error(400, credential(request)), { status: 400 }),
    ...STATUSES.map(
      (status) => (request: ReceivedRequest) => json(dialect.error(status, told(request)), { status, headers: HEADERS }),
    ),
    (request) => json({ error: { message: told(request), ...exhausted } }, { status: 429 }),
    (request) => json(dialect.error(500, told(request))),
    (request) => reply([`<html>${told(request)}</html>`], { headers: { 'content-type': 'text/html' } }),
    (request) => reply([told(request)], { headers: { 'content-type': 'application/json' } }),
    (request) => sse([...begun, dialect.errorEvent(told(request))]),
    (request) => sse([...begun, `data: ${told(request)}\n\n`]),
    () => sse([...begun, RST]),
    () => [RST],
  ]
}
