import type { Expectation } from '../config/config.ts'
import type { Generation } from '../http/generation.ts'
import { ConfigError } from '../text/diagnostic.ts'
import { bold } from './findings.ts'
import type { CommandIo } from './io.ts'
import { wayLine } from './print-explanation.ts'
import { createSimulator, type Way } from './simulate.ts'
import { tryOut } from './try-out.ts'
import { printConfigError } from './validate.ts'

/** What came of one expectation. */
interface Result {
  readonly expectation: Expectation
  readonly holds: boolean
  readonly ways: readonly Way[]
}

/**
 * `umg routes test`: holds a table against what its author expects of it, by the very rules that serve calls. No upstream is asked.
 * Resolves to the exit code: 0 where all expectations hold, 1 where one does not, 2 where there are none or the table is not valid.
 */
export async function testRoutes(file: string, io: CommandIo): Promise<0 | 1 | 2> {
  let results: readonly Result[]
  try {
    results = await tryOut(file, io.env, testAll)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    printConfigError(error, file, io)
    return 2
  }
  if (results.length === 0) {
    io.stderr.write(
      `${file} expects nothing: write what it should do under "expect", for example expect: { acme/smart: openai/gpt-5.5 }\n`,
    )
    return 2
  }
  return print(results, file, io)
}

function testAll({ config, table }: Generation): readonly Result[] {
  const forecast = createSimulator(table)
  return config.expectations.map((expectation) => {
    const { model, failing, to } = expectation
    const ways = forecast(model, { failing })
    const shares = sharesOf(ways)
    const share = shares.get(to)
    return { expectation, ways, holds: share !== undefined && share >= Math.max(...shares.values()) - TIE }
  })
}

/** Where chance decides between equals, either may be expected: so far apart may their shares in a forecast be. */
const TIE = 0.06

/** By where calls end. */
function sharesOf(ways: readonly Way[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>()
  for (const { end, share } of ways) shares.set(end, (shares.get(end) ?? 0) + share)
  return shares
}

function print(results: readonly Result[], file: string, { env, stdout }: CommandIo): 0 | 1 {
  stdout.write(`${file}\n`)
  for (const result of results) stdout.write(linesOf(result, bold(stdout, env)))
  const failed = results.filter(({ holds }) => !holds).length
  stdout.write(`\n${results.length - failed} passing${failed === 0 ? '' : `, ${failed} failing`}\n`)
  return failed === 0 ? 0 : 1
}

function linesOf({ expectation, holds, ways }: Result, emphasis: (text: string) => string): string {
  const { model, failing, to, at } = expectation
  const given = [...failing].map(([name, cause]) => `${name} fails (${cause})`).join(' and ')
  const said = `${model}${given === '' ? '' : `, where ${given},`} → ${to}`
  if (holds) return `  ✔ ${said}\n`
  const seen = ways.slice(0, MOST_WAYS).map((way) => `    ${wayLine(way)}\n`)
  return `${emphasis(`  ✖ ${said}`)}   ${at.file}:${at.line}\n${seen.join('')}`
}

/** The ways least travelled say little. */
const MOST_WAYS = 5
