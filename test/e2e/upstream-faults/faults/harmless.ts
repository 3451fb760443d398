import { gzipSync } from 'node:zlib'
import { BOM, comment, head, pieces, reply, type Step, withLineEnds } from '../../../../core/testing/kit.ts'
import { type Asked, CANARY } from '../assertions.ts'

/** What a reply says that is harmless. */
export const SAID = { thinking: ['Hm…'], text: ['Grüß', ' dich 🌍'] }
const PRIVATE = { 'set-cookie': CANARY, server: CANARY, 'openai-organization': CANARY, 'x-request-id': CANARY, via: CANARY }

/** The same on the wire. */
export const textOf = ({ dialect, stream }: Asked): string =>
  stream ? dialect.events(SAID).join('') : JSON.stringify(dialect.whole(SAID))
const typeOf = ({ stream }: Asked): object => ({ 'content-type': stream ? 'text/event-stream' : 'application/json' })
/** The plainest reply that says it. */
export const plain = (asked: Asked, headers: object = {}): Step[] =>
  reply([textOf(asked)], { headers: { ...typeOf(asked), ...headers } })

/** What HTTP allows an upstream to do around a reply. */
export const AROUND: Readonly<Record<string, (asked: Asked) => Step[]>> = {
  'gives early hints first': (asked) => [head(103, { link: '</style.css>' }), ...plain(asked)],
  'sends 5,000 headers': (asked) => plain(asked, { ...PRIVATE, x: new Array(5000).fill('y') }),
  'ends by closing': (asked) => reply([textOf(asked)], { headers: { ...typeOf(asked) }, framing: 'close' }),
  'sends chunks of a character': (asked) =>
    pieces(reply([...textOf(asked)], { headers: { ...typeOf(asked) }, framing: 'chunked' }), 4096),
  'compresses unasked': (asked) =>
    reply([gzipSync(textOf(asked))], { headers: { ...typeOf(asked), 'content-encoding': 'gzip' } }),
}

/** What the HTML standard allows in an event stream. */
export const WITHIN: Readonly<Record<string, (text: string) => string>> = {
  'ends its lines by CRLF': (text) => withLineEnds(text, '\r\n'),
  'ends its lines by CR': (text) => withLineEnds(text, '\r'),
  'begins with a byte order mark': (text) => BOM + text,
  'sends comments': (text) => text.replaceAll('\n\n', `\n\n${comment(CANARY)}`),
  'puts no blank before data': (text) => text.replaceAll('data: ', 'data:'),
  'puts data on several lines': (text) => text.replaceAll(/^(data: \{.*?),/gm, '$1,\ndata: '),
  'numbers its events and says when to come back': (text) => text.replaceAll('\n\n', `\nid: ${CANARY}\nretry: 10\n\n`),
  'sends events without data': (text) => text.replaceAll('\n\n', '\n\nevent: ping\n\ndata:\n\n'),
}
