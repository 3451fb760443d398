import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, hello } from '../plugins/openai-wire.ts'
import { reloadAfter, replaceFile, validReloadAfter } from './reloading.ts'

const routes = (origin: string) => `version: 1
chain: [{ plugin: auth }]
namespaces:
  up:
    provider: openai-compatible
    config: { baseUrl: ${origin}/v1, apiKey: "\${file:secrets/key}" }
  idle:
    provider: openai-compatible
    optional: true
    config: { baseUrl: ${origin}/v1, apiKey: "\${file:secrets/other}" }
`

describe('A secret file', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  const at = (name: string): string => join(gateway.folder, 'secrets', name)

  /** The credential that the upstream gets now. */
  async function sent(model = 'up/m'): Promise<string | undefined> {
    const { status } = await gateway.fetch('/v1/chat/completions', { json: ask({ model }) })
    return status === 200 ? upstream.requests.at(-1)!.headers.authorization : String(status)
  }

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
    gateway = await startTestGateway({ routes: routes(upstream.origin), files: { 'secrets/key': 'first-secret\n' } })
  })

  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const HAS_CHANGED = ['~ namespace up: config.apiKey: $' + '{file:secrets/key} has changed']

  for (const [how, rotate] of [
    ['rotated in place', () => writeFile(at('key'), 'second-secret\n')],
    [
      'rotated by renaming',
      async () => {
        await writeFile(at('next'), 'second-secret\n')
        await rename(at('next'), at('key'))
      },
    ],
    [
      'rotated with its whole folder',
      async () => {
        await rm(at('.'), { recursive: true })
        await mkdir(at('.'))
        await writeFile(at('key'), 'second-secret\n')
      },
    ],
  ] as const) {
    it(`that is ${how} is used at once, and is not logged`, async () => {
      expect(await sent()).to.equal('Bearer first-secret')
      const { difference } = await validReloadAfter(gateway, rotate)
      expect(difference).to.deep.equal(HAS_CHANGED)
      expect(await sent()).to.equal('Bearer second-secret')
      expect(JSON.stringify(gateway.log)).to.not.match(/(first|second)-secret/)
    })
  }

  it('that is removed stays in use until there is a new one', async () => {
    const { ok, diagnostics } = await reloadAfter(gateway, () => rm(at('key')))
    expect(ok).to.equal(false)
    expect(diagnostics).to.match(/routes\.yaml:6:\d+: the file secrets\/key is missing or empty/)
    expect(await sent()).to.equal('Bearer first-secret')
    const { difference } = await validReloadAfter(gateway, () => writeFile(at('key'), 'second-secret\n'))
    expect(difference).to.deep.equal(HAS_CHANGED)
    expect(await sent()).to.equal('Bearer second-secret')
  })

  it('that is created activates the namespace that needs it', async () => {
    expect(await sent('idle/m')).to.equal('404')
    await reloadAfter(gateway, () => replaceFile(at('other'), 'third-secret\n'))
    expect(await sent('idle/m')).to.equal('Bearer third-secret')
  })
})
