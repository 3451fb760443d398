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

/** Does something, and waits until the gateway has read its table again. */
export async function reloadAfter(gateway: TestGateway, act: () => unknown): Promise<ReloadLine> {
  const before = gateway.log.length
  await act()
  const line = await gateway.logged((each) => gateway.log.indexOf(each) >= before && /^routing table/.test(String(each.msg)))
  const { msg, trigger, difference = [], diagnostics = [] } = line as unknown as Logged
  return { ok: msg === 'routing table reloaded', trigger, difference, diagnostics: diagnostics.join('\n') }
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
