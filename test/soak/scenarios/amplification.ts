import { json, type ReceivedRequest } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { atRate } from '../at-rate.ts'
import { bodyOf, type Client, createClient } from '../client.ts'
import type { SoakedGateway, SoakFixture } from '../fixture.ts'
import { namespaceOf, plainRoutes } from '../plain-routes.ts'
import { atMost, type Finding, type Scenario } from '../scenario.ts'

const PER_SECOND = 200
const FAILING_SECONDS = 30
const HEALED_SECONDS = 10

const TABLE = plainRoutes(
  namespaceOf('bare', ', breaker: false') +
    namespaceOf('guarded') +
    '  tried: { models: { bare: { targets: [{ model: bare/m }] }, guarded: { targets: [{ model: guarded/m }] } } }',
)

/** An upstream that fails every call: retries stay few, and calls succeed soon after it has recovered. */
export const amplification: Scenario = {
  name: 'amplification',
  seconds: 180,
  table: TABLE,
  async run(fixture, progress) {
    const client = createClient(fixture.gateway, fixture.gateway.keys.many)
    const findings: Finding[] = []
    for (const name of ['bare', 'guarded']) {
      progress(`every call fails, breaker ${name === 'bare' ? 'off' : 'on'}`)
      findings.push(...(await failAndHeal(fixture, client, name)))
    }
    client.close()
    return findings
  },
}

async function failAndHeal({ gateway, open }: SoakFixture, client: Client, name: string): Promise<Finding[]> {
  let asked = 0
  let healthy = false
  open.on(({ path }: ReceivedRequest) => {
    if (path.startsWith(`/${name}/`)) asked++
    return healthy ? json(openai.whole({ text: ['Hello!'] })) : json(openai.error(500, 'No.'), { status: 500 })
  })
  const call = () => client.call(bodyOf({ model: `tried/${name}` }))
  const calls = PER_SECOND * FAILING_SECONDS
  await atRate(PER_SECOND, calls, call)
  const attempts = asked
  const shutFor = name === 'bare' ? 0 : await shutSeconds(gateway, `${name}/m`)
  healthy = true
  await atRate(PER_SECOND, PER_SECOND * shutFor, call)
  const answers = await atRate(PER_SECOND, PER_SECOND * HEALED_SECONDS, call)
  const failed = answers.filter(({ status }) => status !== 200).length
  const breaker = name === 'bare' ? 'breaker off' : 'breaker on'
  const afterwards = shutFor === 0 ? 'once it is mended' : `once it is mended and the ${shutFor} s are over for which it is shut`
  return [
    atMost(120, 'attempts', `for each hundred of ${calls} calls that all fail, ${breaker}`, (100 * attempts) / calls),
    atMost(1, '%', `calls that fail ${afterwards}, ${breaker}`, (100 * failed) / answers.length),
  ]
}

/** How long until every process asks a target again. */
async function shutSeconds({ url }: SoakedGateway, id: string): Promise<number> {
  const text = await (await fetch(`${url}/readyz?verbose`, { headers: { connection: 'close' } })).text()
  const [, seconds] = new RegExp(` ${id}: .*next attempt in (\\d+) s`).exec(text) ?? []
  if (seconds === undefined) throw new Error(`the breaker of ${id} is not open: ${text}`)
  return Number(seconds)
}
