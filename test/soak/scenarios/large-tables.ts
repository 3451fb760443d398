// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { manyLines, manyNamespaces } from '../../support/large-routes.ts'
import { bodyOf, createClient } from '../client.ts'
import { serveEndlessStreams } from '../endless-streams.ts'
import type { SoakedGateway } from '../fixture.ts'
import { atMost, exactly, type Finding, type Scenario } from '../scenario.ts'

/** The most that the event loop may be late, in milliseconds. */
const RELOAD_MS = 50
const REPLY_MS = 20

/** Repetitions: the median ignores other load on the machine. */
const TIMES = 5

const STREAMS = 20

/** Where streams are served, and where nobody listens. */
const OPEN = '  open: { provider: openai-compatible, config: { baseUrl: "${env:SOAK_OPEN}" } }\n'
const CLOSED = 'http://127.0.0.1:9'

const withOpen = (table: string): string => table.replace('namespaces:\n', `namespaces:\n${OPEN}`)

const TABLES = [
  { what: 'a reload of 2,000 lines', table: (version: number) => withOpen(manyLines(2000, CLOSED, version)) },
  { what: 'a reload of 500 namespaces', table: (version: number) => withOpen(manyNamespaces(500, CLOSED, version)) },
]

const REPLIES = [
  { what: 'a list of 5,000 models', path: '/v1/models' },
  { what: '/metrics of 5,000 models', path: '/metrics' },
]

/** Tables of hundreds of namespaces and thousands of models do not delay the streams of calls. */
export const largeTables: Scenario = {
  name: 'large-tables',
  seconds: 180,
  table: withOpen(manyLines(20, CLOSED, 0)),
  async run({ gateway, open, folder }, progress) {
    const over = new AbortController()
    serveEndlessStreams(open, over.signal)
    const client = createClient(gateway, gateway.keys.many)
    const streams = Array.from({ length: STREAMS }, () => client.call(bodyOf({ model: 'open/endless', stream: true })))
    const findings: Finding[] = []
    const measure = async (what: string, most: number, work: (time: number) => Promise<void>): Promise<void> => {
      const times: number[] = []
      for (let time = 0; time < TIMES; time++) {
        await gateway.lateness()
        await work(time)
        times.push(await gateway.lateness())
      }
      progress(`late with ${what}, ms: ${times.map(Math.round).join(', ')}`)
      findings.push(atMost(most, 'ms', `late with ${what}, median of ${TIMES}`, times.toSorted((a, b) => a - b)[TIMES >> 1]!))
    }
    for (const { what, table } of TABLES) await measure(what, RELOAD_MS, (time) => load(gateway, folder, table(time + 1)))
    const headers = { authorization: `Bearer ${gateway.keys.many}`, connection: 'close' }
    for (const { what, path } of REPLIES)
      await measure(what, REPLY_MS, async () => void (await (await fetch(gateway.url + path, { headers })).text()))
    over.abort()
    const broken = (await Promise.all(streams)).filter(({ body }) => !body.endsWith('data: [DONE]\n\n'))
    client.close()
    return [...findings, exactly(0, `streams beside them, of ${STREAMS}, that broke off`, broken.length)]
  },
}

/** Writes a table, and waits until it serves. */
async function load(gateway: SoakedGateway, folder: string, text: string): Promise<void> {
  await writeFile(join(folder, 'routes.yaml'), text)
  const sha256 = createHash('sha256').update(text).digest('hex')
  while ((await gateway.metric('umg_config_info', sha256)) === 0) await delay(100)
}
