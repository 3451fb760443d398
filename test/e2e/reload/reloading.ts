import { rename, writeFile } from 'node:fs/promises'
import type { TestGateway } from '../../support/gateway.ts'

/** The log line of a reload. */
export interface ReloadLine {
  readonly ok: boolean
  readonly trigger: string
  readonly difference: readonly string[]
  /** All of them in one text: `routes.yaml:3:4: message`. */
  readonly diagnostics: string
}

interface Logged {
  readonly msg: string
  readonly trigger: string
  readonly difference?: readonly string[]
  readonly diagnostics?: readonly string[]
}

const RELOADED = /^routing table reloaded/
const ANY = /^routing table/

/** Resolves to the first matching line after the given number of lines. */
async function lineAfter(gateway: TestGateway, before: number, pattern: RegExp): Promise<ReloadLine> {
  const line = await gateway.logged((each) => gateway.log.indexOf(each) >= before && pattern.test(String(each.msg)))
  const { msg, trigger, difference = [], diagnostics = [] } = line as unknown as Logged
  return { ok: RELOADED.test(msg), trigger, difference, diagnostics: diagnostics.join('\n') }
}

/** Runs a function, and waits until the gateway has reloaded its table. */
export async function reloadAfter(gateway: TestGateway, run: () => unknown): Promise<ReloadLine> {
  const before = gateway.log.length
  await run()
  return lineAfter(gateway, before, ANY)
}

/** Runs a function, and waits until the gateway uses a new table. Before, it may have refused a table that was not complete. */
export async function validReloadAfter(gateway: TestGateway, run: () => unknown): Promise<ReloadLine> {
  const before = gateway.log.length
  await run()
  return lineAfter(gateway, before, RELOADED)
}

/** Replaces a file atomically. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.next`, text)
  await rename(`${path}.next`, path)
}

/** A table that names itself in a header of replies. */
export const table = (name: string, more = ''): string => `version: 1
chain:
  - plugin: auth
  - plugin: header-stamping
    config: { response: { x-table: ${name} } }
namespaces:
  sandbox: { provider: sandbox }
${more}`

/** The table that serves new calls. */
export async function tableInUse(gateway: TestGateway): Promise<string | null> {
  const reply = await gateway.fetch('/v1/models')
  await reply.text()
  return reply.headers.get('x-table')
}

/** Waits until a table is in use. Others may be used before it. */
export async function untilInUse(gateway: TestGateway, name: string): Promise<void> {
  for (;;) {
    const before = gateway.log.length
    if ((await tableInUse(gateway)) === name) return
    await lineAfter(gateway, before, ANY)
  }
}
