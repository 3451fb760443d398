/**
 * `npm run matrix`: each client does its tasks by a model of each upstream, through a gateway, and `docs/compatibility.md` is written from what
 * came of it. `--only`: rows whose name has this in it; then nothing is written. Prints each cell. The exit code is 1 if one failed.
 */
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Gateway } from '../e2e/clients/client.ts'
import { startFixture } from '../e2e/clients/fixture.ts'
import { startPythons } from '../e2e/clients/python-clients.ts'
import { find, remedyOf } from '../support/requirements.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { type Cell, pageOf, type Result, THOUGHTS } from './page.ts'
import { COLUMNS, ROWS, type Row } from './rows.ts'

const PAGE = new URL('../../docs/compatibility.md', import.meta.url)

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })

/** A line of progress. */
const print = (line: string): void => void process.stderr.write(`${line}\n`)

/** What fills a row at a time: a gateway with a model of each upstream, on whose replies it listens. */
async function startLane() {
  await using opened = new AsyncDisposableStack()
  const fixture = opened.adopt(await startFixture(COLUMNS), (one) => one.stop())
  const dropped = new Set<string>()
  const proxy = opened.adopt(
    await startTcpProxy(fixture.url, (bytes) => {
      const [, names] = /^x-umg-params-dropped: (.*)\r$/im.exec(bytes.toString('latin1')) ?? []
      for (const name of names?.split(', ') ?? []) dropped.add(name)
    }),
    (one) => one.close(),
  )
  const { origin: url } = new URL(proxy.url)
  const pythons = startPythons({ url, key: fixture.key })
  opened.defer(async () => {
    for (const python of pythons.values()) await python.close()
  })
  const gateway: Gateway = { url, key: fixture.key, pythons }
  const all = opened.move()

  async function fill(row: Row): Promise<Result> {
    const cells = new Map<string, Cell>()
    for (const vendor of COLUMNS) {
      dropped.clear()
      const { failures, forgets } = await row.use(gateway, fixture.models.get(vendor)!)
      const losses = [...dropped, ...(forgets ? [THOUGHTS] : [])].sort()
      cells.set(vendor.name, { failures, losses })
      print([`${row.name}, ${row.protocol}, ${vendor.name}:`, ...losses, ...failures.map((one) => `\n  ✗ ${one}`)].join(' '))
    }
    return { packageVersion: await row.packageVersion(gateway), cells }
  }

  return { fill, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

const results = new Map<Row, Result>()
const queue: Row[] = []
for (const row of ROWS.filter(({ name }) => name.includes(values.only))) {
  if (row.needs === undefined || find(row.needs) !== undefined) queue.push(row)
  else print(`${row.name}, ${row.protocol}: not run: ${remedyOf(row.needs)}`)
}

{
  await using lanes = new AsyncDisposableStack()
  // Each changes the environment of this process until it ends: one after the other, and back.
  const all = []
  for (let index = 0; index < availableParallelism(); index++) all.push(lanes.use(await startLane()))
  await Promise.all(
    all.map(async ({ fill }) => {
      for (let row = queue.shift(); row !== undefined; row = queue.shift()) results.set(row, await fill(row))
    }),
  )
}

if (values.only === '') await writeFile(PAGE, pageOf(results))
const failed = [...results.values()].flatMap(({ cells }) => [...cells.values()]).filter(({ failures }) => failures.length > 0)
print(`${results.size * COLUMNS.length} cells, ${failed.length} failed`)
process.exitCode = failed.length > 0 ? 1 : 0
