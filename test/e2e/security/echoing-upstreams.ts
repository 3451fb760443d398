import { json, type ReceivedRequest, RST, reply, type Script, sse } from '../../../core/testing/kit.ts'
import { type Dialect, splitAfter } from '../sdk/dialect.ts'
import { CONTENT } from './calls.ts'

const STATUSES = [302, 401, 402, 403, 404, 429, 500, 503]
const HEADERS = { location: 'https://elsewhere.example/', 'x-quoted': 'canary' }

/** An error text that quotes the whole request. */
const quoted = ({ rawHeaders, body }: ReceivedRequest): string => `I received ${JSON.stringify(rawHeaders)} ${body}`

/** An error text that quotes the credential: a 400's text reaches clients with keys removed. */
const credential = ({ headers }: ReceivedRequest): string => `Bad key: ${headers.authorization ?? headers['x-api-key']}.`

/** A valid reply, and failures of every kind whose texts quote the request. */
export function repliesOf(dialect: Dialect, stream: boolean): ((request: ReceivedRequest) => Script)[] {
  const said = { text: [CONTENT.answer, ' Goodbye.'] }
  const [begun] = splitAfter(dialect.events(said), CONTENT.answer)
  const exhausted = { code: 'insufficient_quota', type: 'insufficient_quota' }
  return [
    () => (stream ? sse(dialect.events(said)) : json(dialect.whole(said))),
    (request) => json(dialect.error(400, credential(request)), { status: 400 }),
    ...STATUSES.map(
      (status) => (request: ReceivedRequest) => json(dialect.error(status, quoted(request)), { status, headers: HEADERS }),
    ),
    (request) => json({ error: { message: quoted(request), ...exhausted } }, { status: 429 }),
    (request) => json(dialect.error(429, `Request too large. ${quoted(request)}`), { status: 429 }),
    (request) => json(dialect.error(403, `Your input was flagged. ${credential(request)}`), { status: 403 }),
    (request) => json(dialect.error(500, quoted(request))),
    (request) => reply([`<html>${quoted(request)}</html>`], { headers: { 'content-type': 'text/html' } }),
    (request) => reply([quoted(request)], { headers: { 'content-type': 'application/json' } }),
    (request) => sse([...begun, dialect.errorEvent(quoted(request))]),
    (request) => sse([...begun, `data: ${quoted(request)}\n\n`]),
    () => sse([...begun, RST]),
    () => [RST],
  ]
}
