import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runLink } from 'unified-model-gateway/plugin/testing'
import plugin from '../plugins/log-usage.ts'

it('logs the tokens of a call', async () => {
  const { outcome, log } = await runLink(plugin)
  assert.equal(outcome.kind, 'ok')
  assert.deepEqual(
    log.map(({ msg, tokens }) => [msg, tokens]),
    [['usage', outcome.usage?.total_tokens]],
  )
})

it('logs no call of few tokens', async () => {
  const { log } = await runLink(plugin, { config: { least: 1_000_000 } })
  assert.deepEqual(log, [])
})
