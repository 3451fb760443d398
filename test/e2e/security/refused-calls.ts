import { type Asked, type ClientKeys, CONTENT } from './calls.ts'

const ordered = (model: string, order: string): Asked => ({
  model,
  members: { messages: [{ role: 'user', content: `${CONTENT.prompt}\nsandbox: ${order}` }] },
})

/** Calls that the gateway itself refuses or breaks down over, in every way, with secrets where they do not belong. */
export function refusedCalls(keys: ClientKeys, metricsToken: string): readonly Asked[] {
  const { live } = keys
  return [
    ...['', keys.revoked, keys.expired, keys.disabled, keys.unknown, `${live}x`, `"${live}"`, live.slice(1), metricsToken].map(
      (key) => ({
        key,
      }),
    ),
    ...headersThatFail(live, keys.unknown).map((line) => ({ lines: [line] })),
    { requestLine: 'GET /v1/responses HTTP/1.1', lines: ['Upgrade: websocket', `Sec-WebSocket-Protocol: ${live}`], body: '' },
    { lines: [`Content-Length: ${64 << 20}`], body: '' },
    ...bodiesThatFail(live).map((body) => ({ body })),
    ...membersThatFail(live).map((members) => ({ members })),
    { model: 'claude/x', members: { n: 2 } },
    { model: 'nowhere/x' },
    { model: 'gone/x' },
    ...['status=404', 'status=429'].map((order) => ordered('curated/named', order)),
    ordered('stalled/x', 'stall=0'),
    ...[keys.few, keys.few, keys.short, keys.short, keys.test].map((key) => ({ key, model: 'curated/named' })),
    ...addressesThatFail(live, metricsToken).map((address) => ({ requestLine: `${address} HTTP/1.1`, body: '' })),
    { requestLine: 'POST /v1/chat/completions HTTP/2.0' },
    { requestLine: 'GET /metrics HTTP/1.1', key: metricsToken, body: '' },
  ]
}

const headersThatFail = (key: string, other: string): string[] => [
  `X-Api-Key: ${other}`,
  `Cookie: key=${key}`,
  `Content-Type: ${CONTENT.prompt}`,
  'Content-Encoding: gzip',
  `Expect: ${key}`,
  'Transfer-Encoding: gzip',
  `X-A: ${key.repeat(500)}`,
  'X-Fault: throw',
  'X-Fault: throw late',
  'X-Fault: refuse',
]

const bodiesThatFail = (key: string): string[] => [
  `{"${key}`,
  '[]',
  `{"model":"open/x","messages":[{"role":"user","content":"${CONTENT.prompt}`,
  `{"x":${'['.repeat(99)}`,
  '{"model":"x","model":"y","messages":[]}',
]

const membersThatFail = (key: string): object[] => [
  { messages: undefined },
  { model: undefined },
  { temperature: CONTENT.prompt },
  { messages: [{ role: CONTENT.prompt, content: '' }] },
  { n: 0 },
  { N: 1 },
  { api_key: key, user: key },
]

const addressesThatFail = (key: string, metricsToken: string): string[] => [
  `GET /v1/models?api_key=${key}`,
  `GET /nowhere?key=${key}`,
  'DELETE /v1/models',
  'CONNECT elsewhere:443',
  'GET /metrics',
  `GET /metrics?token=${encodeURIComponent(metricsToken)}`,
  'GET /readyz',
]
