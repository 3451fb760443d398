import { encoded, openaiReply, type ReceivedRequest, reply, type Script } from '../../../core/testing/kit.ts'
import { type Answer, bodyOf, type Client, createClient } from '../client.ts'
import { namespaceOf, plainRoutes } from '../plain-routes.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'
import { startSteadyClient } from '../steady-client.ts'
import { isThere } from '../stop-process.ts'

const TIMES = 10
const LATEST_MS = 250
const JSON_REPLY = { headers: { 'content-type': 'application/json' } } as const

/** Six hostile replies at once, again and again: no process ends, the gateway answers health checks, and calls of others are served. */
export const hostileReplies: Scenario = {
  name: 'hostile-replies',
  seconds: 240,
  // A breaker would keep most of the replies away.
  table: plainRoutes(`${namespaceOf('open', ', breaker: false')}  sandbox: { provider: sandbox }\n`),
  async run({ gateway, open }, progress) {
    const replies = repliesOf()
    open.on((request) => replies[modelOf(request)]!)
    const steady = await startSteadyClient(gateway, gateway.keys.many, 'sandbox/hello')
    const client = createClient(gateway, gateway.keys.many)
    const answers: Answer[] = []
    await gateway.lateness()
    for (let time = 1; time <= TIMES; time++) {
      const some = await Promise.all(Object.keys(replies).map((model) => ask(client, model)))
      const late = Math.round(await gateway.lateness())
      progress(`${time} of ${TIMES}: ${some.map(({ status }) => status).join(', ')}; event loop late by ${late} ms`)
      answers.push(...some)
    }
    client.close()
    const { calls, failed, checks } = await steady.stop()
    return [
      exactly(0, `of ${gateway.pids.length} processes, that ended`, gateway.pids.filter((pid) => !isThere(pid)).length),
      exactly(
        0,
        `of ${answers.length} hostile replies, not refused with 502`,
        answers.filter(({ status }) => status !== 502).length,
      ),
      exactly(0, `of ${calls} calls of another client, not served`, failed),
      exactly(0, `of ${checks.count} checks by /livez, not answered 200`, checks.failed),
      atMost(LATEST_MS, 'ms', 'the slowest of them', checks.slowest),
    ]
  },
}

/** Replies that are cheap to send and dear to read, by the model that is asked for. */
const repliesOf = (): Readonly<Record<string, Script>> => ({
  objects: hostile(`[${'{},'.repeat(2_000_000)}{}]`),
  levels: hostile(`${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}`),
  large: hostile(`["${'x'.repeat(2 << 20)}",${'[],'.repeat(2_000_000)}{}]`),
  gzip: encoded('gzip', withMember(' '.repeat(64 << 20)), JSON_REPLY),
  deflate: encoded('deflate', withMember(`[${'0,'.repeat(16 << 20)}0]`), JSON_REPLY),
  br: encoded('br', withMember(`"${'x'.repeat(64 << 20)}"`), JSON_REPLY),
})

const hostile = (value: string): Script => reply([withMember(value)], JSON_REPLY)

/** A reply that would serve the call but for a member with this value. */
const withMember = (value: string): string => `${JSON.stringify(openaiReply({ text: 'Yes.' }).whole).slice(0, -1)},"z":${value}}`

const modelOf = (request: ReceivedRequest): string => (request.json() as { readonly model: string }).model

const BROKEN: Answer = { status: 0, headers: {}, body: '', whole: false, took: 0 }

const ask = (client: Client, model: string): Promise<Answer> =>
  client.call(bodyOf({ model: `open/${model}` })).catch(() => BROKEN)
