import { expect } from 'chai'
import { diffConfigs, diffTexts } from '../../../core/config/diff.ts'
import { loadConfig } from '../../../core/config/load.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

const BEFORE = `version: 1
chain:
  - plugin: auth
  - plugin: ./audit.ts
    config: { servers: [{ name: a, port: 1 }, { name: b, port: 2 }], ports: [1, 2] }
namespaces:
  openai:
    provider: openai-compatible
    config: { preset: openai, apiKey: "\${env:OPENAI}" }
    timeouts: { connect: 2s }
  local: { provider: sandbox }
  acme:
    models:
      smart:
        targets: [{ model: openai/gpt-5.5, weight: 80 }, { model: local/echo, weight: 20 }]
        fallbacks: [local/hello]
aliases: { gpt-4o: openai/gpt-5.5, tiny: local/hello }
keys:
  - { name: nightly, hash: "sha256:${'0'.repeat(64)}", kind: live, models: ["*"] }
expect: { acme/smart: openai/gpt-5.5 }
`

/** A change: its name, the text before and after, and the lines of the difference. */
const CHANGES: readonly (readonly [string, string | RegExp, string, readonly string[]])[] = [
  ['comments', 'version: 1', '# ours\nversion: 1 # the first', []],
  ['quotes', 'connect: 2s', 'connect: "2s"', []],
  ['the YAML style', 'timeouts: { connect: 2s }', 'timeouts:\n      connect: 2s', []],
  ['the order of keys', `{ preset: openai, apiKey: "\${env:OPENAI}" }`, `{ apiKey: "\${env:OPENAI}", preset: openai }`, []],
  ['the order of targets', /targets: \[(.*), (\{.*\})\]/, 'targets: [$2, $1]', []],
  ['a field', 'connect: 2s', 'connect: 5s', ['~ namespace openai: timeouts.connect: 2s → 5s']],
  ['fields: one more', 'connect: 2s', 'connect: 2s, idle: 1m', ['+ namespace openai: timeouts.idle: 1m']],
  ['fields: one less', `, apiKey: "\${env:OPENAI}"`, '', [`- namespace openai: config.apiKey: \${env:OPENAI}`]],
  ['a reference', 'env:OPENAI', 'env:OTHER', [`~ namespace openai: config.apiKey: \${env:OPENAI} → \${env:OTHER}`]],
  ['namespaces: one more', 'aliases:', '  new: { provider: sandbox }\naliases:', ['+ namespace new: { provider: sandbox }']],
  ['namespaces: one less', '  local: { provider: sandbox }\n', '', ['- namespace local: { provider: sandbox }']],
  ['a weight', 'weight: 80', 'weight: 70', ['~ route acme/smart: targets[openai/gpt-5.5].weight: 80 → 70']],
  [
    'a target',
    'local/echo',
    'local/x',
    [
      '- route acme/smart: targets[local/echo]: { model: local/echo, weight: 20 }',
      '+ route acme/smart: targets[local/x]: { model: local/x, weight: 20 }',
    ],
  ],
  [
    'a fallback',
    '[local/hello]',
    '[local/x, local/hello]',
    ['~ route acme/smart: fallbacks: [local/hello] → [local/x, local/hello]'],
  ],
  [
    'a route',
    'smart:\n',
    'quick: { targets: [{ model: local/x }] }\n      smart:\n',
    ['+ route acme/quick: { targets: { [local/x]: { model: local/x } } }'],
  ],
  ['an alias', 'gpt-4o: openai/gpt-5.5', 'gpt-4o: acme/smart', ['~ alias gpt-4o: openai/gpt-5.5 → acme/smart']],
  ['aliases: one more and one less', 'tiny:', 'small:', ['- alias tiny: local/hello', '+ alias small: local/hello']],
  [
    'the chain: one more link',
    '  - plugin: ./audit.ts',
    '  - plugin: auth\n  - plugin: ./audit.ts',
    ['~ chain: [auth, ./audit.ts] → [auth, auth 2, ./audit.ts]', '+ link auth 2: { plugin: auth }'],
  ],
  [
    'the order of links',
    /( {2}- plugin: auth\n)( {2}- [\s\S]*?)namespaces/,
    '$2$1namespaces',
    ['~ chain: [auth, ./audit.ts] → [./audit.ts, auth]'],
  ],
  ["a plugin's list", 'name: b, port: 2', 'name: b, port: 3', ['~ link ./audit.ts: config.servers[b].port: 2 → 3']],
  ["a plugin's list of plain values", '[1, 2]', '[2, 1]', ['~ link ./audit.ts: config.ports: [1, 2] → [2, 1]']],
  ['a key', 'kind: live', 'kind: test', ['~ key nightly: kind: live → test']],
  ['an expectation', 'acme/smart: openai', 'acme/smart: local', ['~ expectation acme/smart: openai/gpt-5.5 → local/gpt-5.5']],
]

describe('the difference between two versions of routes.yaml', () => {
  for (const [what, from, to, lines] of CHANGES) {
    it(`${lines.length === 0 ? 'ignores' : 'shows'} a change of ${what}`, () => {
      const after = BEFORE.replace(from, to)
      expect(after).to.not.equal(BEFORE)
      expect(diffTexts(BEFORE, after)).to.have.members(lines)
    })
  }

  it('shortens long values', () => {
    const after = BEFORE.replace('gpt-4o: openai/gpt-5.5', `gpt-4o: local/${'x'.repeat(500)}`)
    const [line, ...others] = diffTexts(BEFORE, after)
    expect(others).to.deep.equal([])
    expect(line).to.match(/x…$/).and.have.length.below(200)
  })

  describe('shows a change of the value of a reference', () => {
    let folder: TemporaryFolder

    beforeEach(() => {
      folder = temporaryFolder()
    })

    afterEach(() => folder?.remove())

    const load = (text: string, env: NodeJS.ProcessEnv) => loadConfig(folder.write('routes.yaml', text), env)

    it('without the value', async () => {
      const text = `version: 1
namespaces:
  up: { provider: openai-compatible, config: { preset: openai, apiKey: "\${env:KEY}" } }
  same: { provider: openai-compatible, config: { preset: openai, apiKey: "\${env:SAME}" } }
  late: { provider: openai-compatible, optional: true, config: { preset: openai, apiKey: "\${env:LATE}" } }
`
      const before = await load(text, { KEY: 'first-secret', SAME: 'x' })
      const after = await load(text, { KEY: 'second-secret', SAME: 'x', LATE: 'third-secret' })
      const lines = diffConfigs(before, after)
      expect(lines).to.deep.equal([
        `~ namespace up: config.apiKey: \${env:KEY} has changed`,
        `~ namespace late: config.apiKey: \${env:LATE} has changed`,
      ])
      expect(JSON.stringify([lines, ...before.digests, ...after.digests])).to.not.contain('-secret')
    })
  })
})
