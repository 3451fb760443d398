import { chunk, FIN, head, json, lastChunk, RST } from '../../../../core/testing/kit.ts'
import { CANARY, type Fault } from '../assertions.ts'
import { DISCONNECTED, INVALID } from '../failures.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Faults at the beginning of a reply: the connection, the status line, the headers. */
export const BAD_BEGINNINGS: readonly Fault[] = [
  { name: 'resets the connection instead of a reply', script: () => [RST], failure: DISCONNECTED },
  { name: 'closes the connection instead of a reply', script: () => [FIN], failure: DISCONNECTED },
  { name: 'resets the connection within the headers', script: () => ['HTTP/1.1 200 OK\r\ncont', RST], failure: DISCONNECTED },
  { name: 'closes the connection within the headers', script: () => ['HTTP/1.1 200 OK\r\ncont', FIN], failure: DISCONNECTED },
  {
    name: 'sends 100 Continue without a request for it',
    script: ({ whole }) => [head(100), ...json(whole({}))],
    failure: INVALID,
  },
  {
    name: 'switches protocols without a request for it',
    script: () => [head(101, { connection: 'upgrade', upgrade: 'websocket' }), CANARY],
    failure: INVALID,
  },
  { name: 'does not speak HTTP', script: () => [`220 ${CANARY} ESMTP\r\n\r\n`], failure: INVALID },
  { name: 'ends its lines with LF only', script: () => ['HTTP/1.1 200 OK\ncontent-length: 2\n\n{}'], failure: INVALID },
  { name: 'answers 099', script: () => ['HTTP/1.1 099 Hm\r\ncontent-length: 0\r\n\r\n'], failure: INVALID },
  { name: 'answers 999', script: () => ['HTTP/1.1 999 Hm\r\ncontent-length: 0\r\n\r\n'], failure: INVALID },
  {
    name: 'sends a header of 17 KB',
    script: () => [head(200, { ...JSON_TYPE, 'x-long': 'x'.repeat(17_000), 'content-length': '2' }), '{}'],
    failure: INVALID,
  },
  {
    name: 'sends two content-lengths',
    script: () => [head(200, { ...JSON_TYPE, 'content-length': ['2', '3'] }), '{}'],
    failure: INVALID,
  },
  {
    name: 'sends a content-length and then chunked encoding',
    script: () => [head(200, { ...JSON_TYPE, 'content-length': '2', 'transfer-encoding': 'chunked' }), chunk('{}'), lastChunk()],
    failure: INVALID,
  },
  {
    name: 'sends chunked encoding and then a content-length',
    script: () => [head(200, { ...JSON_TYPE, 'transfer-encoding': 'chunked', 'content-length': '2' }), chunk('{}'), lastChunk()],
    failure: INVALID,
  },
]
