import { expect } from 'chai'
import { type ValidateOptions, validate } from '../../../core/cli/config/validate.ts'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { runCommand } from '../../support/run-command.ts'
import { type TemporaryFolder, temporaryFolder } from '../config/temporary-folder.ts'

const AUTH = 'chain: [{ plugin: auth }]\n'

describe('umg validate', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
  })

  after(() => folder?.remove())

  async function check(text: string, options: ValidateOptions = {}) {
    const file = folder.write('routes.yaml', text)
    const { code, stdout, stderr } = await runCommand((io) => validate(file, options, io), { KEY: 'value-of-the-key' })
    const plain = (written: string) => written.replaceAll(`${folder.path}/`, '')
    return { code, stdout: plain(stdout), stderr: plain(stderr) }
  }

  describe('--json', () => {
    it('prints the notices of a valid table', async () => {
      const { code, stdout, stderr } = await check('version: 1\nnamespaces: {}\n', { json: true })
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
      const { notices, ...rest } = JSON.parse(stdout)
      expect(rest).to.deep.equal({ file: 'routes.yaml', valid: true, errors: [] })
      expect(notices).to.have.length(1)
    })

    it('prints the errors on stdout', async () => {
      const { code, stdout, stderr } = await check(`version: 1\n${AUTH}namespace: {}\nnamespaces: {}\n`, { json: true })
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' })
      expect(JSON.parse(stdout)).to.deep.equal({
        file: 'routes.yaml',
        valid: false,
        errors: [
          {
            file: 'routes.yaml',
            line: 3,
            column: 1,
            message: 'unknown field "namespace" at the top level; did you mean "namespaces"?',
          },
        ],
        notices: [],
      })
    })

    it('exits with 2 if the file cannot be read', async () => {
      const { code, stdout } = await runCommand((io) => validate(`${folder.path}/nowhere.yaml`, { json: true }, io))
      expect(code).to.equal(2)
      expect(JSON.parse(stdout).errors[0]).to.include({ line: 1, column: 1, message: 'the file does not exist' })
    })
  })

  it('says that a file does not exist, not that it is wrong at a place', async () => {
    const file = `${folder.path}/nowhere.yaml`
    const { code, stdout, stderr } = await runCommand((io) => validate(file, {}, io))
    expect({ code, stdout, stderr }).to.deep.equal({ code: 2, stdout: '', stderr: `${file}: the file does not exist\n` })
  })

  describe('--github', () => {
    it('prints an annotation for each error, escaped', async () => {
      const { code, stdout } = await check(`version: 1\n${AUTH}namespaces: { "50%,\\na:b": { provider: sandbox } }\n`, {
        github: true,
      })
      expect(code).to.equal(1)
      expect(stdout).to.equal(
        '::error file=routes.yaml,line=3,col=15::"50%25,\\na:b" in namespaces must be a name of lower-case letters, digits, dots, dashes and underscores, such as "openai" or "my-models"\n',
      )
    })

    it('escapes the name of the file', async () => {
      const file = folder.write('a,b:c%.yaml', 'version: 2\nnamespaces: {}\n')
      const { stdout } = await runCommand((io) => validate(file, { github: true }, io))
      expect(stdout).to.contain('/a%2Cb%3Ac%25.yaml,line=1,col=10::version must be 1')
    })

    it('prints a notice of the models whose cost is unknown', async () => {
      const far = '{ provider: openai-compatible, config: { baseUrl: "http://127.0.0.1:1/v1" }, models: [a, b, c, d, "*"] }'
      const open = '{ provider: openai-compatible, config: { preset: openai } }'
      const prices = 'prices: { models: { far/a: { free: true } } }'
      const text = `version: 1\n${AUTH}namespaces: { far: ${far}, near: ${far}, open: ${open} }\n${prices}\n`
      expect((await check(text)).stdout.split('\n').slice(1, -1)).to.deep.equal([
        'note: the cost of calls to far/b, far/c, far/d is unknown, so that callers with a budget are refused; add prices, or free: true, to "prices"',
        'note: the cost of calls to near/a, near/b, near/c and 1 more is unknown, so that callers with a budget are refused; add prices, or free: true, to "prices"',
      ])
    })

    it('prints an annotation for each notice', async () => {
      const { code, stdout } = await check('version: 1\nnamespaces: {}\n', { github: true })
      expect(code).to.equal(0)
      expect(stdout).to.match(/^::notice file=routes\.yaml::the chain has no "auth"/)
    })
  })

  describe('--online', () => {
    let upstream: ScriptedUpstream

    beforeEach(async () => {
      upstream = await scriptedUpstream()
    })

    afterEach(() => upstream?.close())

    /** Without it, a notice says that its models have no price. */
    const FREE = 'prices: { models: { far/*: { free: true } } }\n'
    const table = (origin: string, rest = '') =>
      `version: 1\n${AUTH}namespaces:\n  far:\n    provider: openai-compatible\n    config: { baseUrl: "${origin}/v1", apiKey: "\${env:KEY}" }\n${rest}${FREE}`

    it('calls the upstream with the credential, and prints the number of upstreams', async () => {
      upstream.on(() => json({ object: 'list', data: [{ id: 'large' }] }))
      const { code, stdout } = await check(table(upstream.origin), { online: true })
      expect({ code, stdout }).to.deep.equal({
        code: 0,
        stdout: 'routes.yaml is valid: 1 namespace, 1 link; 1 upstream checked\n',
      })
      expect(upstream.requests.map(({ path, headers }) => [path, headers.authorization])).to.deep.equal([
        ['/v1/models', 'Bearer value-of-the-key'],
      ])
    })

    it('calls no upstream without the option', async () => {
      expect((await check(table(upstream.origin))).code).to.equal(0)
      expect(upstream.connectionsAccepted).to.equal(0)
    })

    it('reports the namespace whose upstream refuses the credential, and its message', async () => {
      upstream.on(() => json({ error: { message: 'Your key has expired.' } }, { status: 401 }))
      const { code, stderr } = await check(table(upstream.origin), { online: true })
      expect(code).to.equal(1)
      expect(stderr).to.match(
        /^routes\.yaml:4:3: namespaces\.far: GET \S+\/v1\/models: status 401; check the API key\. The upstream said: "Your key has expired\."\n/,
      )
      expect(stderr).to.contain('> 4 |   far:\n    |   ^^^\n')
    })

    it('calls the upstream with each of several credentials, and reports those that it refuses', async () => {
      upstream.on(({ headers }) =>
        headers.authorization === 'Bearer value-of-the-key' ? json({ data: [] }) : json({}, { status: 401 }),
      )
      const pooled = table(upstream.origin)
        .replace(`, apiKey: "\${env:KEY}"`, '')
        .replace(FREE, `    credentials: { good: { apiKey: "\${env:KEY}" }, bad: { apiKey: "\${env:KEY}-2" } }\n`)
      const { code, stderr } = await check(pooled, { online: true })
      expect(code).to.equal(1)
      expect(stderr.match(/namespaces\.\S+ GET \S+ status \d+/g)).to.deep.equal([
        `namespaces.far.credentials.bad: GET ${upstream.origin}/v1/models: status 401`,
      ])
    })

    for (const [what, message, printed] of [
      ['the credential', 'Bearer value-of-the-key: no such key (value-of-the-key).', '"…: no such key (…)."'],
      ['a masked key', 'Incorrect API key provided: sk-proj-****-k9Zq, or ****k9Zq.', '"Incorrect API key provided: …, or …."'],
      ['control characters', 'No\u001b[2J\u0007\r\n::error::entry', '"No [2J ::error::entry"'],
      ['everything after 500 characters', 'no '.repeat(10_000), `"${'no '.repeat(200).slice(0, 500)}"`],
    ] as const) {
      it(`removes ${what} from the message of an upstream`, async () => {
        upstream.on(() => json({ error: { message } }, { status: 401 }))
        const { stderr } = await check(table(upstream.origin), { online: true })
        expect(stderr.split('\n')[0]!.split(' said: ')[1]).to.equal(printed)
      })
    }

    it('prints the message of an UpstreamError that a plugin throws, without secrets', async () => {
      folder.write('tale.ts', MUTE.replace('request:', `check: () => { throw new UpstreamError(${TALE}) }, request:`))
      const { stderr } = await check(`version: 1\n${AUTH}namespaces:\n  tale: { provider: ./tale.ts }\n`, { online: true })
      expect(stderr).to.match(/^routes\.yaml:4:3: namespaces\.tale: status 402\. The upstream said: "No credit {2}for …\."\n/)
    })

    it('reports the namespace whose upstream cannot be reached', async () => {
      const { code, stdout } = await check(table(await closedOrigin()), { github: true, online: true })
      expect(code).to.equal(1)
      expect(stdout).to.match(/^::error file=routes\.yaml,line=4,col=3::namespaces\.far: GET \S+: ECONNREFUSED\n$/)
    })

    it('notes models in the table that the upstream does not list', async () => {
      upstream.on(() => json({ data: [{ id: 'large' }, { id: 'small' }] }))
      const rest =
        '    models: [large, "l*", lagre, medium]\n  acme: { models: { smart: { targets: [{ model: far/lxrge }] } } }\naliases: { gpt: far/large }\n'
      const { code, stdout } = await check(table(upstream.origin, rest), { online: true })
      expect(code).to.equal(0)
      expect(stdout.split('\n').slice(1, -1)).to.deep.equal([
        'note: "far" does not list the model far/lagre; did you mean "large"?',
        'note: "far" does not list the model far/medium',
        'note: "far" does not list the model far/lxrge; did you mean "large"?',
      ])
    })

    it('notes an upstream that cannot be checked, and skips dormant namespaces', async () => {
      folder.write('mute.ts', MUTE)
      const text = `version: 1\n${AUTH}namespaces:\n  mute: { provider: ./mute.ts }\n  off: { provider: openai-compatible, optional: true, config: { preset: openai, apiKey: "\${env:NOT_SET}" } }\n`
      const { code, stdout } = await check(text, { online: true })
      expect(code).to.equal(0)
      expect(stdout)
        .to.contain('; 0 upstreams checked\n')
        .and.contain('note: the upstream of "mute" was not checked: its provider has no check\n')
    })

    it('prints the message of an error that a plugin throws', async () => {
      folder.write('cross.ts', MUTE.replace('request:', "check: () => { throw new Error('the region is closed') }, request:"))
      const { stderr } = await check(`version: 1\n${AUTH}namespaces:\n  cross: { provider: ./cross.ts }\n`, { online: true })
      expect(stderr).to.match(/^routes\.yaml:4:3: namespaces\.cross: the region is closed\n/)
    })
  })

  it('reports the position of a config that its plugin refuses, with a code frame', async () => {
    const { code, stderr } = await check(`version: 1\n${AUTH}namespaces:\n  far: { provider: openai-compatible }\n`)
    expect(code).to.equal(1)
    expect(stderr)
      .to.match(/^routes\.yaml:4:3: namespaces\.far\.config names no upstream: /)
      .and.contain('> 4 |   far: { provider')
  })
})

/** A provider without a check and a list of models. */
const MUTE = `import { defineProvider, Type, UpstreamError } from 'unified-model-gateway/plugin'
export default defineProvider({
  apiVersion: 1,
  name: 'mute',
  schema: Type.Object({}),
  create: () => ({ parameters: 'verbatim', request: () => ({ status: 200, body: [] }) }),
})
`

const TALE = "{ status: 402, message: 'No credit\\u001b for sk-proj-abcdef.' }"
