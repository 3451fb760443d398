import { rename, writeFile } from 'node:fs/promises'
import type { TestGateway } from '../../support/gateway.ts'

/** What a gateway's log says of a reload. */
export interface ReloadLine {
  readonly ok: boolean
  readonly trigger: string
  readonly difference: readonly string[]
  /** `routes.yaml:3:4: what is wrong`, in one text. */
  readonly diagnostics: string
}

interface Logged {
  readonly msg: string
  readonly trigger: string
  readonly difference?: readonly string[]
  readonly diagnostics?: readonly string[]
}

const GOOD = /^routing table reloaded/
const ANY = /^routing table/

/** The first line of a kind that was, or will be, logged after so many others. */
async function lineAfter(gateway: TestGateway, before: number, kind: RegExp): Promise<ReloadLine> {
  const line = await gateway.logged((each) => gateway.log.indexOf(each) >= before && kind.test(String(each.msg)))
  const { msg, trigger, difference = [], diagnostics = [] } = line as unknown as Logged
  return { ok: GOOD.test(msg), trigger, difference, diagnostics: diagnostics.join('\n') }
}

/** Does something, and waits until the gateway has read its table again. */
export async function reloadAfter(gateway: TestGateway, act: () => unknown): Promise<ReloadLine> {
  const before = gateway.log.length
  await act()
  return lineAfter(gateway, before, ANY)
}

/** Does something, and waits until the gateway has put a table in use: that it refused half of one before is no harm. */
export async function goodReloadAfter(gateway: TestGateway, act: () => unknown): Promise<ReloadLine> {
  const before = gateway.log.length
  await act()
  return lineAfter(gateway, before, GOOD)
}

/** Replaces a file in one step, so that nobody meets half of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.next`, text)
  await rename(`${path}.next`, path)
}

/** A table whose replies say which one it is, with more of it where that is given. */
export const table = (name: string, more = ''): string => `version: 1
chain:
  - plugin: auth
  - plugin: header-stamping
    config: { response: { x-table: ${name} } }
namespaces:
  sandbox: { provider: sandbox }
${more}`

/** Which table serves new calls. */
export async function tableInUse(gateway: TestGateway): Promise<string | null> {
  const reply = await gateway.fetch('/v1/models')
  await reply.text()
  return reply.headers.get('x-table')
}

/** Waits until a table serves, whatever others are read before it. */
export async function untilInUse(gateway: TestGateway, name: string): Promise<void> {
  for (;;) {
    const before = gateway.log.length
    if ((await tableInUse(gateway)) === name) return
    await lineAfter(gateway, before, ANY)
  }
}
