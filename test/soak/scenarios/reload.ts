import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { json, type ReceivedRequest, type ScriptedUpstream, type Step, sse } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { type Answer, bodyOf, type Client, createClient } from '../client.ts'
import type { SoakedGateway } from '../fixture.ts'
import { idleResources } from '../resources.ts'
import { exactly, type Finding, type Scenario, within } from '../scenario.ts'
import { EditedRoutes, randomNumbers, versionedRoutes } from './versioned-routes.ts'

const SECONDS = 60
const EDITS = 1000
const CALLS_PER_SECOND = 200
const STREAMS = 50

/** A stream of some ten seconds, of which each event says what the upstream knows of its version. */
const EVENTS = 50
const PAUSE_MS = 200

/** A table that is edited all the time, rightly and wrongly: no call fails for it, and in the end the last good version serves. */
export const reload: Scenario = {
  name: 'reload',
  seconds: 150,
  table: versionedRoutes(0),
  async run({ gateway, open, folder }, progress) {
    serveVersions(open)
    const table = new EditedRoutes(folder, randomNumbers(7))
    const client = createClient(gateway, gateway.keys.many)
    progress('warming up')
    await under(client, 5, () => editFor(table, 5))
    await isLoaded(gateway, table)
    const before = { resources: await idleResources(gateway), clients: client.connections }
    progress(`${EDITS} edits in ${SECONDS} seconds`)
    const tally = await under(client, SECONDS, () => editFor(table, SECONDS))
    await isLoaded(gateway, table)
    progress('one more that is wrong')
    await table.writeInvalid()
    while ((await gateway.metric('umg_config_last_reload_successful')) === 1) await delay(100)
    const after = { resources: await idleResources(gateway), clients: client.connections }
    client.close()
    const drift = after.resources.descriptors - after.clients - (before.resources.descriptors - before.clients)
    return [
      ...tally,
      exactly(1, 'the last good version serves', await serves(gateway, table)),
      ...(await accounts(gateway)),
      within(2, 'descriptors', drift),
    ]
  },
}

/** An upstream that says of each call whether its chain and its namespace are of one version. */
function serveVersions(upstream: ScriptedUpstream): void {
  upstream.on((request) => {
    const [, inPath] = request.path.split('/')
    const said = request.headers['x-version'] === inPath ? `whole ${inPath} ` : `torn ${inPath} `
    return isStream(request)
      ? slowly(sse(openai.events({ text: Array(EVENTS).fill(said) })))
      : json(openai.whole({ text: [said] }))
  })
}

const isStream = (request: ReceivedRequest): boolean => (request.json() as { readonly stream: boolean }).stream

async function* slowly(script: readonly Step[]): AsyncGenerator<Step> {
  for (const step of script) {
    yield step
    await delay(PAUSE_MS)
  }
}

/** Calls and streams for so long, and what else happens meanwhile. */
async function under(client: Client, seconds: number, meanwhile: () => Promise<void>): Promise<Finding[]> {
  const until = performance.now() + seconds * 1000
  const streaming = Promise.all(Array.from({ length: STREAMS }, () => streamUntil(client, until)))
  const [calls, streams] = await Promise.all([callUntil(client, until), streaming, meanwhile()])
  const failed = (answers: readonly Answer[], isGood: (answer: Answer) => boolean) =>
    answers.filter((answer) => !isGood(answer)).length
  const all = [...calls, ...streams.flat()]
  return [
    exactly(
      0,
      `failed calls of ${calls.length}`,
      failed(calls, ({ status }) => status === 200),
    ),
    exactly(0, `broken streams of ${streams.flat().length}`, failed(streams.flat(), isUnbroken)),
    exactly(0, 'answers of more than one version', all.filter(isTorn).length),
  ]
}

const isUnbroken = ({ status, whole, body }: Answer): boolean => status === 200 && whole && body.endsWith('data: [DONE]\n\n')

/** A stream's events must agree with each other too. */
const isTorn = ({ body }: Answer): boolean => body.includes('torn') || new Set(body.match(/whole \d+/g)).size > 1

async function callUntil(client: Client, until: number): Promise<readonly Answer[]> {
  const startedAt = performance.now()
  const calls: Promise<Answer>[] = []
  while (performance.now() < until) {
    calls.push(answerTo(client, false))
    await delay(Math.max(0, startedAt + (calls.length * 1000) / CALLS_PER_SECOND - performance.now()))
  }
  return Promise.all(calls)
}

async function streamUntil(client: Client, until: number): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  while (performance.now() < until) answers.push(await answerTo(client, true))
  return answers
}

const NO_ANSWER: Answer = { status: 0, headers: {}, body: '', whole: false, took: Number.POSITIVE_INFINITY }

const answerTo = (client: Client, stream: boolean): Promise<Answer> =>
  client.call(bodyOf({ model: 'up/m', stream })).catch(() => NO_ANSWER)

/** Edits at random moments, as many a second as make up the number in all, and at last one that is right. */
async function editFor(table: EditedRoutes, seconds: number): Promise<void> {
  const random = randomNumbers(seconds)
  const startedAt = performance.now()
  let at = startedAt
  for (let edits = 0; edits < (EDITS * seconds) / SECONDS; edits++) {
    at += -Math.log(1 - random()) * ((SECONDS * 1000) / EDITS)
    await delay(Math.max(0, at - performance.now()))
    await table.edit()
  }
  await table.write()
}

const serves = (gateway: SoakedGateway, { text }: EditedRoutes): Promise<number> =>
  gateway.metric('umg_config_info', createHash('sha256').update(text).digest('hex'))

async function isLoaded(gateway: SoakedGateway, table: EditedRoutes): Promise<void> {
  while ((await serves(gateway, table)) === 0) await delay(100)
}

/** What the gateway says of its reloads: metrics and log agree, and nothing of the older versions is left. */
async function accounts(gateway: SoakedGateway): Promise<Finding[]> {
  const log = gateway.output()
  const logged = (what: string) => log.split(`"msg":"routing table ${what}`).length - 1
  const counted = (result: string) => gateway.metric('umg_config_reloads_total', `result="${result}"`)
  const links = (what: string) => gateway.metric('soak_links_total', `what="${what}"`)
  return [
    exactly(logged('reloaded'), 'tables that were loaded, by the metric and by the log', await counted('success')),
    exactly(logged('not reloaded'), 'tables that were refused, by the metric and by the log', await counted('failure')),
    exactly(1, 'versions that serve', await gateway.metric('umg_config_generations')),
    // Control builds every version too.
    exactly(gateway.pids.length, 'links that are not closed, one a process', (await links('made')) - (await links('closed'))),
  ]
}
