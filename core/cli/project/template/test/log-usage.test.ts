import assert from 'node:assert/strict'
import { it } from 'node:test'
import { EVERY_CALL, runLink } from 'unified-model-gateway/plugin/testing'
import plugin from '../plugins/log-usage.ts'

it('logs the tokens of a call', async () => {
  const { outcome, log } = await runLink(plugin)
  assert.equal(outcome.kind, 'ok')
  assert.deepEqual(
    log.map(({ msg, tokens }) => [msg, tokens]),
    [['usage', outcome.usage?.total_tokens]],
  )
})

for (const [title, call] of Object.entries(EVERY_CALL)) {
  it(`leaves the reply as it is: ${title}`, async () => {
    const { client } = await runLink(plugin, call)
    assert.equal(client.status, 200, client.text)
  })
}

it('logs no call of few tokens', async () => {
  const { log } = await runLink(plugin, { config: { least: 1_000_000 } })
  assert.deepEqual(log, [])
})
