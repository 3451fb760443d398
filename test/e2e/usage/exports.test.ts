import { expect } from 'chai'
import { createCallWriter } from '../../../core/usage/call-writer.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { type CallFields, callRowOf } from '../../core/usage/outcome.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { type ApiClient, adminClient } from './api-client.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Yesterday in UTC: the gateway removes calls that are older than its retention. */
const DAY = (Math.floor(Date.now() / DAY_MS) - 1) * DAY_MS
const NOON = DAY + DAY_MS / 2
const CALLS = 1200

const isoOf = (at: number): string => new Date(at).toISOString()

describe('lists and files of requests and usage', () => {
  let gateway: TestGateway
  let client: ApiClient

  before(async () => {
    gateway = await startTestGateway({ routes: { chain: [{ plugin: 'auth' }], namespaces: {} } })
    client = await adminClient(gateway)
    const writer = createCallWriter(gateway.store)
    const write = (calls: readonly CallFields[]) => writer.write(calls.map(callRowOf))
    await write(Array.from({ length: CALLS - 1 }, (_, number) => ({ at: NOON + number, number, key: `key_${number % 30}` })))
    await write([{ at: NOON + CALLS, model: '=cmd|"calc"', error: 'model_not_found', tags: { team: 'a,b' } }])
  })

  after(() => gateway?.stop())

  it('are read page by page, up to the last page', async () => {
    const ids: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { json } = await client.get(`/requests?limit=200${cursor && `&cursor=${cursor}`}`)
      const { data, next_cursor } = json as { data: CallView[]; next_cursor: string | null }
      ids.push(...data.map(({ id }) => id))
      cursor = next_cursor
    }
    expect(new Set(ids)).to.have.length(CALLS)
    expect(ids).to.deep.equal(ids.toSorted().toReversed())
  })

  it('hold every call once, the newest first, as CSV', async () => {
    const { headers, text } = await client.get('/requests.csv')
    expect(headers.get('content-type')).to.equal('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).to.equal('attachment; filename="requests.csv"')
    const lines = text.trimEnd().split('\r\n')
    expect(lines).to.have.length(CALLS + 1)
    const ids = lines.slice(1).map((line) => line.slice(0, line.indexOf(',')))
    expect(ids).to.deep.equal([...new Set(ids)].toSorted().toReversed())
    expect(lines[1]).to.include(`,"[{""name"":""auth"",""ms"":0.05},{""name"":""audit"",""ms"":2.5}]",`)
    expect(lines[1]).to.include(`,"'=cmd|""calc""",`).and.to.include(',"{""team"":""a,b""}"')
  })

  it('hold every call once as JSON Lines, each as the look-up shows it', async () => {
    const { headers, text } = await client.get('/requests.jsonl')
    expect(headers.get('content-type')).to.equal('application/jsonl; charset=utf-8')
    const calls = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as CallView)
    expect(new Set(calls.map(({ id }) => id))).to.have.length(CALLS)
    const [newest] = calls
    expect((await client.get(`/requests/${newest!.id}`)).json as CallView).to.deep.equal(newest)
  })

  it('hold what their filters say', async () => {
    const { text } = await client.get('/requests.jsonl?key_id=key_7')
    const keys = text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as CallView).key?.id)
    expect(keys).to.deep.equal(Array.from({ length: 40 }, () => 'key_7'))
    expect((await client.get('/requests.csv?status=502')).text.trimEnd().split('\r\n')).to.have.length(1)
  })

  it('hold the usage of every key, not only of the first twenty', async () => {
    const { headers, text } = await client.get(`/usage.csv?group=key&from=${isoOf(DAY - 14 * DAY_MS)}&to=${isoOf(DAY + DAY_MS)}`)
    expect(headers.get('content-disposition')).to.equal('attachment; filename="usage.csv"')
    const lines = text.trimEnd().split('\r\n')
    expect(lines[0]).to.equal(
      't,name,label,requests,errors,input_tokens,output_tokens,cached_tokens,reasoning_tokens,cost_usd,saved_usd,unpriced',
    )
    expect(lines).to.have.length(32)
    expect(lines).to.include(`${isoOf(DAY)},key_7,key_7,40,0,400,200,0,0,,,40`)
  })

  it('add up days of the time zone that is asked for, the same ones in both', async () => {
    // West of UTC by eleven hours: yesterday's noon of UTC is early in the morning there.
    const query = `group=model&step=day&time_zone=Pacific/Pago_Pago&from=${isoOf(DAY)}&to=${isoOf(DAY + DAY_MS)}`
    const { json } = await client.get(`/usage?${query}`)
    const { series, totals } = json as { series: { t: string; values: { requests: number }[] }[]; totals: { requests: number } }
    const sums = series.map(({ t, values }) => [t, values.reduce((sum, { requests }) => sum + requests, 0)])
    expect(sums).to.deep.equal([
      [isoOf(DAY - 13 * HOUR_MS), 0],
      [isoOf(DAY + 11 * HOUR_MS), CALLS],
    ])
    expect(totals.requests).to.equal(CALLS)
    const lines = (await client.get(`/usage.csv?${query}`)).text.trimEnd().split('\r\n').slice(1)
    expect(lines.map((line) => line.split(',').with(2, '').join(','))).to.deep.equal([
      `${isoOf(DAY + 11 * HOUR_MS)},,,1,1,10,5,0,0,,,1`,
      `${isoOf(DAY + 11 * HOUR_MS)},openai/gpt-5.5,,1199,0,11990,5995,0,0,,,1199`,
    ])
  })

  for (const [name, path, param] of [
    ['an unknown time zone', '/usage?group=model&step=day&time_zone=Mars/Olympus', 'time_zone'],
    [
      'days of a time zone whose hours are no longer kept',
      `/usage?group=model&time_zone=UTC&from=${isoOf(DAY - 31 * DAY_MS)}`,
      'from',
    ],
    ['an invalid status', '/requests?status=nine', 'status'],
    ['an invalid time', '/requests?from=yesterday', 'from'],
    ['an invalid fault', '/requests.csv?fault=mine', 'fault'],
    ['an unknown filter', '/requests?prompt=hello', 'prompt'],
    ['a duplicate filter', '/requests?model=a&model=b', 'model'],
    ['usage without a group', '/usage', 'group'],
    ['usage by an unknown group', '/usage?group=prompt', 'group'],
    ['spend by an unknown group', '/spend?group=prompt', 'group'],
    ['the statement of no month', '/statement?month=2026-13', 'month'],
    ['a time range that ends before it begins', '/usage.csv?group=model&from=2026-02-01&to=2026-01-01', 'to'],
    ['too many hours', '/usage?group=model&step=hour&from=2026-01-01&to=2026-02-01', 'to'],
  ] as const) {
    it(`are refused for ${name}, by name`, async () => {
      const { status, json } = await client.get(path)
      expect([status, (json as { error: { param: string } }).error.param]).to.deep.equal([400, param])
    })
  }
})
