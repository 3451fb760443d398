import type { Generation } from '../../call/generation.ts'
import type { Expectation } from '../../config/config.ts'
import { withValidGeneration } from '../generation.ts'
import { bold, type CommandIo, type JsonOption, writeJson } from '../output.ts'
import { createSimulator, formatFailing, formatWay, type Way } from './simulator.ts'

/** The result of testing one expectation. */
interface Result {
  readonly expectation: Expectation
  readonly holds: boolean
  readonly ways: readonly Way[]
}

/**
 * `umg routes test`: tests the expectations of routes.yaml by simulated calls. Calls no upstream. Resolves to the exit code: 0 if all
 * hold, 1 if one does not, 2 if there are none or routes.yaml is not valid.
 */
export async function testRoutes(file: string, options: JsonOption, io: CommandIo): Promise<0 | 1 | 2> {
  const results = await withValidGeneration(file, options, io, testAll)
  if (results === undefined) return 2
  if (results.length === 0) {
    io.stderr.write(
      `${file} has no expectations: write them under "expect", for example expect: { acme/smart: openai/gpt-5.5 }\n`,
    )
    return 2
  }
  const failed = results.filter(({ holds }) => !holds).length
  if (options.json) writeJson({ file, passing: results.length - failed, failing: failed, expectations: results.map(toJson) }, io)
  else print(results, file, io)
  return failed === 0 ? 0 : 1
}

const toJson = ({ expectation: { model, failing, to, at }, holds, ways }: Result) => ({
  model,
  failing: Object.fromEntries(failing),
  to,
  line: at.line,
  holds,
  ways: ways.map(({ end, share }) => ({ end, share })),
})

function testAll({ config, table }: Generation): readonly Result[] {
  const simulate = createSimulator(table)
  return config.expectations.map((expectation) => {
    const { model, failing, to } = expectation
    const ways = simulate(model, { failing })
    const shares = sharesOf(ways)
    const share = shares.get(to)
    return { expectation, ways, holds: share !== undefined && share >= Math.max(...shares.values()) - TOLERANCE }
  })
}

/** The difference up to which two simulated shares count as equal: of equal targets, any may be expected. */
const TOLERANCE = 0.06

/** The shares of the calls by where they end. */
function sharesOf(ways: readonly Way[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>()
  for (const { end, share } of ways) shares.set(end, (shares.get(end) ?? 0) + share)
  return shares
}

function print(results: readonly Result[], file: string, { env, stdout }: CommandIo): void {
  stdout.write(`${file}\n`)
  for (const result of results) stdout.write(format(result, bold(stdout, env)))
  const failed = results.filter(({ holds }) => !holds).length
  stdout.write(`\n${results.length - failed} passing${failed === 0 ? '' : `, ${failed} failing`}\n`)
}

function format({ expectation, holds, ways }: Result, emphasis: (text: string) => string): string {
  const { model, failing, to, at } = expectation
  const title = `${model}${failing.size === 0 ? '' : `, where ${formatFailing(failing)},`} → ${to}`
  if (holds) return `  ✔ ${title}\n`
  const shown = ways.slice(0, MAX_WAYS).map((way) => `    ${formatWay(way)}\n`)
  return `${emphasis(`  ✖ ${title}`)}   ${at.file}:${at.line}\n${shown.join('')}`
}

/** The number of ways that are printed. The others have the smallest shares. */
const MAX_WAYS = 5
