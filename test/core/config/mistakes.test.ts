import { expect } from 'chai'
import { validate } from '../../../core/cli/config/validate.ts'
import { MISTAKES } from './mistakes.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

/** The file of an operator, without mistakes. */
const ROUTES = `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config:
      classes:
        standard: { requests: 60/min, tokens: 100k/min, concurrent: 10 }
        batch: { tokens: 500M/month }
      default: standard
      tags: { team: "{header.x-team}" }
      metrics: [team]
  - plugin: header-stamping
    config:
      response: { x-served-by: "{served_namespace}/{served_model}", x-cost: "{cost_usd}" }
      upstream: { x-team: "{tag.team}" }
    when: { namespaces: [openai, claude] }
  - plugin: explain
    config: { keys: ["routes:search"] }
namespaces:
  openai:
    provider: openai-compatible
    config: { preset: openai, apiKey: "\${env:OPENAI_API_KEY}", headers: { x-site: eu } }
    models: [gpt-5.5, "o4-*"]
    timeouts: { connect: 5s, total: 10m }
    concurrency: { limit: 20, queue: 5 }
    limits: { requests: 500/min, concurrent: 50 }
  local:
    provider: openai-compatible
    config: { baseUrl: "http://127.0.0.1:9/v1" }
    models: [qwen3-32b]
  claude:
    provider: anthropic
    config: { apiKey: "\${env:ANTHROPIC_API_KEY}" }
    models: [claude-sonnet-5]
  acme:
    models:
      smart:
        targets:
          - { model: openai/gpt-5.5, weight: 80 }
          - { model: local/qwen3-32b, weight: 20 }
        fallbacks: [claude/claude-sonnet-5]
        retry: { attempts: 3, on: [connect, timeout, 429, 5xx] }
        defaults: { temperature: 0.2 }
        timeouts: { firstByte: 20s, total: 5m }
aliases:
  gpt-4o: acme/smart
accounts:
  research:
    models: ["acme/*", "openai/*"]
    class: batch
    tags: { team: vision }
    budget: [30 USD/day, 500 USD/month]
keys:
  - name: search
    hash: sha256:${'0123456789abcdef'.repeat(4)}
    kind: live
    account: research
    models: ["acme/*"]
    tags: { job: nightly }
    expires: 2099-01-31
prices:
  models:
    local/qwen3-32b: { input: 0.1, output: 0.2 }
    claude/claude-sonnet-5: { input: 3, output: 15 }
expect:
  gpt-4o: openai/gpt-5.5
  acme/smart:
    - to: openai/gpt-5.5
    - { failing: { openai: 5xx }, to: local/qwen3-32b }
`

const ENV = { OPENAI_API_KEY: 'of-openai', ANTHROPIC_API_KEY: 'of-anthropic' }

interface Report {
  readonly valid: boolean
  readonly errors: readonly { readonly line: number; readonly message: string }[]
  readonly notices: readonly string[]
}

describe('umg validate', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
  })

  after(() => folder?.remove())

  async function report(text: string): Promise<Report> {
    let output = ''
    const stream = { write: (part: string) => (output += part) }
    await validate(folder.write('routes.yaml', text), { json: true }, { env: ENV, stdout: stream, stderr: stream })
    return JSON.parse(output) as Report
  }

  it('finds nothing in the file that the mistakes below are made in', async () => {
    expect(await report(ROUTES)).to.deep.include({ valid: true, errors: [], notices: [] })
  })

  it('has sixty mistakes to find', () => {
    expect(MISTAKES.length).to.be.at.least(60)
    for (const { right } of MISTAKES) expect(ROUTES, right).to.contain(right)
  })

  for (const { mistake, right, wrong, says, at = wrong } of MISTAKES) {
    it(`says once, at its line: ${mistake}`, async () => {
      const text = ROUTES.replace(right, () => wrong)
      const line = text.slice(0, text.indexOf(wrong) + wrong.indexOf(at)).split('\n').length
      const { errors } = await report(text)
      expect(
        errors.map((error) => error.line),
        JSON.stringify(errors, null, 1),
      ).to.deep.equal([line])
      expect(errors[0]?.message).to.contain(says)
    })
  }

  for (const [name, right, wrong, says] of [
    [
      'a misspelt parameter',
      'temperature: 0.2',
      'temprature: 0.2',
      '"temprature", is not a parameter of chat completions; did you mean "temperature"?',
    ],
    ['a glob of no known model', '"o4-*"', '"smal-*"', '"openai/smal-*" matches none of the models whose list prices are known'],
  ] as const) {
    it(`has a note of ${name}, which may be intended`, async () => {
      const { errors, notices } = await report(ROUTES.replace(right, () => wrong))
      expect(errors).to.deep.equal([])
      expect(notices).to.have.length(1)
      expect(notices[0]).to.contain(says)
    })
  }

  it('says all of them at once that do not touch each other', async () => {
    const apart = MISTAKES.filter(({ alone }) => alone !== true)
    const edits = apart.filter(({ right }, index) => apart.findIndex((other) => other.right === right) === index)
    const text = edits.reduce((changed, { right, wrong }) => changed.replace(right, () => wrong), ROUTES)
    const { errors } = await report(text)
    const missing = edits.filter(({ says }) => !errors.some(({ message }) => message.includes(says)))
    expect(missing.map(({ mistake }) => mistake)).to.deep.equal([])
  })
})
