import { json, type ReceivedRequest } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { bodyOf, type Client, createClient } from '../client.ts'
import { atMost, type Finding, type Line } from '../line.ts'
import { paced } from '../paced.ts'
import { namespaceOf, plainTable } from '../plain-table.ts'
import type { SoakedGateway, Stage } from '../stage.ts'

const PER_SECOND = 200
const FAILING_SECONDS = 30
const HEALED_SECONDS = 10

const TABLE = plainTable(
  namespaceOf('bare', ', breaker: false') +
    namespaceOf('guarded') +
    '  tried: { models: { bare: { targets: [{ model: bare/m }] }, guarded: { targets: [{ model: guarded/m }] } } }',
)

/** An upstream that fails every call: it is not asked much more often for it, and serves again soon after it has been mended. */
export const amplification: Line = {
  name: 'amplification',
  seconds: 180,
  table: TABLE,
  async run(stage, progress) {
    const client = createClient(stage.gateway, stage.gateway.keys.many)
    const findings: Finding[] = []
    for (const name of ['bare', 'guarded']) {
      progress(`every call fails, breaker ${name === 'bare' ? 'off' : 'on'}`)
      findings.push(...(await failAndHeal(stage, client, name)))
    }
    client.close()
    return findings
  },
}

async function failAndHeal({ gateway, open }: Stage, client: Client, name: string): Promise<Finding[]> {
  let asked = 0
  let healthy = false
  open.on(({ path }: ReceivedRequest) => {
    if (path.startsWith(`/${name}/`)) asked++
    return healthy ? json(openai.whole({ text: ['Hello!'] })) : json(openai.error(500, 'No.'), { status: 500 })
  })
  const call = () => client.call(bodyOf({ model: `tried/${name}` }))
  const calls = PER_SECOND * FAILING_SECONDS
  await paced(PER_SECOND, calls, call)
  const attempts = asked
  const shutFor = await shutSeconds(gateway, `${name}/m`)
  healthy = true
  await paced(PER_SECOND, PER_SECOND * shutFor, call)
  const answers = await paced(PER_SECOND, PER_SECOND * HEALED_SECONDS, call)
  const failed = answers.filter(({ status }) => status !== 200).length
  const breaker = name === 'bare' ? 'breaker off' : 'breaker on'
  const afterwards = shutFor === 0 ? 'once it is mended' : `once it is mended and the ${shutFor} s are over for which it is shut`
  return [
    atMost(120, 'tries', `for each hundred of ${calls} calls that all fail, ${breaker}`, (100 * attempts) / calls),
    atMost(1, '%', `calls that fail ${afterwards}, ${breaker}`, (100 * failed) / answers.length),
  ]
}

/** For how long, at most, a target is not asked any more. */
async function shutSeconds({ url }: SoakedGateway, id: string): Promise<number> {
  const text = await (await fetch(`${url}/readyz?verbose`, { headers: { connection: 'close' } })).text()
  const [, seconds = '0'] = new RegExp(` ${id}: .*shut for (\\d+) s`).exec(text) ?? []
  return Number(seconds)
}
