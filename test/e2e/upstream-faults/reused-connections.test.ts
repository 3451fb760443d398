import { expect } from 'chai'
import { FIN, json, pieces, RST, type Script, type Step, sse } from '../../../core/testing/kit.ts'
import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { type Asked, EVERY_WAY, PROVIDERS, post } from './assertions.ts'
import { type Counters, readCounters, risen } from './counters.ts'

const wellDone = ({ dialect, stream }: Asked): Step[] =>
  stream ? sse(dialect.events({ text: ['Hello'] })) : json(dialect.whole({ text: ['Hello'] }))

/** What becomes of a call that finds the connection of the call before. */
interface Case {
  readonly name: string
  /** What the upstream does to each request; `turn` counts those of a connection. */
  readonly on: (request: { readonly connection: number; readonly turn: number }, asked: Asked) => Script
  /** The requests as the upstream sees them: `connection.turn`. */
  readonly asks: readonly string[]
  readonly status: number
  /** The results of the second call's attempts. */
  readonly results: readonly string[]
  readonly outcome: string
}

const onSecond =
  (...steps: Step[]): Case['on'] =>
  ({ connection, turn }, asked) =>
    connection === 1 && turn === 2 ? steps : wellDone(asked)

const RETRIED = { asks: ['1.1', '1.2', '2.1'], status: 200, results: ['upstream_disconnected', 'ok'], outcome: 'ok' }
const NOT_RETRIED = { asks: ['1.1', '1.2'], status: 502, outcome: 'upstream_error' }

const CASES: readonly Case[] = [
  { name: 'that is reset on reuse is retried', on: onSecond(RST), ...RETRIED },
  { name: 'that is closed on reuse is retried', on: onSecond(FIN), ...RETRIED },
  {
    name: 'that is reset, like the next one, is not retried again',
    on: ({ turn, connection }, asked) => (turn === 1 && connection === 1 ? wellDone(asked) : [RST]),
    asks: ['1.1', '1.2', '2.1'],
    status: 502,
    results: ['upstream_disconnected', 'upstream_disconnected'],
    outcome: 'upstream_error',
  },
  {
    name: 'that is reset within the head of a reply is not retried, since the request has run',
    on: onSecond('HTTP/1.1 200 OK\r\ncont', RST),
    ...NOT_RETRIED,
    results: ['upstream_disconnected'],
  },
  {
    name: 'that is closed within the head of a reply is not retried, since the request has run',
    on: onSecond('HTTP/1.1 200 OK\r\ncont', FIN),
    ...NOT_RETRIED,
    results: ['upstream_disconnected'],
  },
  {
    name: 'with an invalid reply is not retried',
    on: onSecond('nonsense\r\n\r\n', FIN),
    ...NOT_RETRIED,
    results: ['upstream_invalid_response'],
  },
  {
    name: 'with bytes after the end of a reply uses a new one',
    on: (_, asked) => pieces([...wellDone(asked), 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'], Number.POSITIVE_INFINITY),
    asks: ['1.1', '2.1'],
    status: 200,
    results: ['ok'],
    outcome: 'ok',
  },
]

describe('A call that reuses a connection', () => {
  for (const asked of EVERY_WAY) {
    for (const { name, on, asks, status, results, outcome } of CASES) {
      it(`${name}: ${asked.name}`, async () => {
        const { dialect } = asked
        const fixture = await startFixture()
        try {
          const upstream = fixture.upstream(dialect)
          upstream.on((request) => on(request, asked))
          expect(await callOnce(fixture, asked)).to.include({ status: 200, hello: true })
          const second = await callOnce(fixture, asked)
          expect(second).to.include({ status, hello: status === 200 })
          expect(upstream.requests.map(({ connection, turn }) => `${connection}.${turn}`)).to.deep.equal(asks)
          const counts: Record<string, number> = { [`call ${dialect.namespace} ${status} ${outcome}`]: 1 }
          for (const result of results) {
            const key = `attempt ${PROVIDERS[dialect.namespace]} ${result}`
            counts[key] = (counts[key] ?? 0) + 1
          }
          expect(second.counted).to.deep.equal(counts)
        } finally {
          await fixture.stop()
        }
      })
    }
  }
})

async function callOnce(fixture: Fixture, asked: Asked): Promise<{ status: number; hello: boolean; counted: Counters }> {
  const { gateway } = fixture
  const before = readCounters(await gateway.metrics())
  const reply = await post(fixture, asked)
  const text = await reply.text()
  await gateway.logged(({ id }) => id === reply.headers['x-request-id'])
  const counted = risen(before, readCounters(await gateway.metrics()))
  return { status: reply.status, hello: reply.complete && text.includes('Hello'), counted }
}
