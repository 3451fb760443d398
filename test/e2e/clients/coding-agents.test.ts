import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { json } from '../../../core/testing/kit.ts'
import { describeWith } from '../../support/requirements.ts'
import { AGENTS, finishTask, runAgent } from './coding-agents.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { VENDORS, type Vendor } from './vendors.ts'

/** Refusals of an upstream that no repetition can change. */
const FINAL = [
  { status: 401, error: { type: 'invalid_request_error', code: 'invalid_api_key' } },
  { status: 402, error: { type: 'insufficient_quota', code: 'insufficient_quota' } },
  { status: 403, error: { type: 'invalid_request_error', code: 'unsupported_country_region_territory' } },
  { status: 404, error: { type: 'invalid_request_error', code: 'model_not_found' } },
  { status: 429, error: { type: 'insufficient_quota', code: 'insufficient_quota' } },
]

/** A server of forty tools. */
const MANY_TOOLS = fileURLToPath(new URL('many-tools.mjs', import.meta.url))

/** One that has three credentials: two requests in a row have the same one only if they are of the same conversation. */
const SHARED: Vendor = {
  ...VENDORS[0]!,
  name: 'shared',
  config: (origin) => ({ baseUrl: `${origin}/v1` }),
  credentials: Object.fromEntries(['A', 'B', 'C'].map((name) => [name.toLowerCase(), { apiKey: `\${env:KEY_${name}}` }])),
}

const MODELS = VENDORS.filter(({ name }) => ['openai-compatible', 'openai-by-responses', 'anthropic', 'gemini'].includes(name))

for (const agent of AGENTS) {
  describeWith(agent.program, agent.name, () => {
    let fixture: Fixture

    before(async () => {
      fixture = await startFixture([...MODELS, SHARED])
    })
    after(() => fixture?.stop())

    for (const vendor of MODELS) {
      it(`finishes a task with a tool, by a model of ${vendor.name}`, async () => {
        await finishTask(agent, fixture, fixture.models.get(vendor)!)
      })
    }

    it('keeps to one of several credentials in a conversation', async () => {
      const [first, second] = await finishTask(agent, fixture, fixture.models.get(SHARED)!)
      expect(second!.credential).to.match(/sk-of-[abc]$/)
      expect(second!.credential).to.equal(first!.credential)
    })

    for (const { status, error } of FINAL) {
      // It repeats any 429: OpenAI's own exhausted quota too.
      if (agent.program === 'opencode' && error.code === 'insufficient_quota') continue
      it(`stops at once if the upstream refuses with ${status} ${error.code}`, async () => {
        const model = fixture.models.get(MODELS[0]!)!
        model.refuse(json({ error: { message: 'No.', param: null, ...error } }, { status }))
        await runAgent(agent, { ...fixture, model: model.id })
        // opencode asks for a title too, and Claude Code twice for a model that is not there.
        expect(model.asked.length).to.be.within(1, 2)
      })
    }

    if (agent.program === 'codex') {
      it('finds and calls one of forty tools of a server, by a model that has no search of tools', async () => {
        const model = fixture.models.get(MODELS[0]!)!
        let isSearched = false
        model.answer((body) => {
          if (body.includes('place_7 says hello')) return { text: 'Found it.' }
          const { tools } = JSON.parse(body) as { tools: { function: { name: string } }[] }
          const name = tools.map((tool) => tool.function.name).find((one) => one.endsWith('place_7'))
          if (name !== undefined) return { tools: [{ name, arguments: { what: 'hello' } }] }
          isSearched = true
          return { tools: [{ name: 'tool_search', arguments: { query: 'place number 7', limit: 3 } }] }
        })
        // Codex defers tools behind its search for models that it knows.
        const known = `${MODELS[0]!.name}/gpt-5.5`
        const { said, errors } = await runAgent(agent, { ...fixture, model: known, server: MANY_TOOLS })
        expect(said, errors).to.contain('Found it.')
        expect(isSearched).to.equal(true)
      })
    }

    it('reports a wrong key at once', async () => {
      const { said, errors } = await runAgent(agent, {
        ...fixture,
        key: 'sk-live-wrong',
        model: fixture.models.get(MODELS[0]!)!.id,
      })
      expect(said + errors).to.contain('Incorrect API key provided')
    })
  })
}
