import { expect } from 'chai'
import { describeWith } from '../../support/requirements.ts'
import { AGENTS, finishTask } from './coding-agents.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { VENDORS } from './vendors.ts'

const MODELS = VENDORS.filter(({ name }) => ['openai-compatible', 'openai-by-responses', 'anthropic', 'gemini'].includes(name))
const CODEX = AGENTS.find(({ program }) => program === 'codex')!

describeWith('codex', 'Codex CLI on its default transport, a WebSocket', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture(MODELS)
  })
  after(() => fixture?.stop())

  /** The calls on sockets so far. */
  async function turns(): Promise<number> {
    const text = await (await fetch(`${fixture.url}/metrics`)).text()
    return Number(/^umg_socket_turns_total (\d+)$/m.exec(text)?.[1])
  }

  for (const vendor of MODELS)
    it(`finishes a task with a tool, by a model of ${vendor.name}`, async () => {
      const before = await turns()
      await finishTask(CODEX, { ...fixture, isDefault: true }, fixture.models.get(vendor)!)
      // It may prepare one without an answer.
      expect((await turns()) - before).to.be.within(2, 3)
    })
})
