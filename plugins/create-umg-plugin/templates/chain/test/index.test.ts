import assert from 'node:assert/strict'
import { EVERY_CALL, hold, json, openaiReply, runLink, sse } from 'unified-model-gateway/plugin/testing'
import plugin from '../src/index.ts'

const config = { team: 'red', mostTokens: 100 }

describe('__name__', () => {
  // A link sees the calls of all endpoints, which have other members than chat completions.
  for (const [title, call] of Object.entries(EVERY_CALL)) {
    it(`sends the team to the upstream and the client: ${title}`, async () => {
      const { client, upstream, outcome } = await runLink(plugin, { config, ...call })
      assert.equal(client.status, 200, client.text)
      for (const { headers } of upstream) assert.equal(headers['x-team'], 'red')
      assert.equal(client.headers['x-team'], 'red')
      assert.equal(outcome.kind, 'ok')
    })
  }

  for (const endpoint of ['chat.completions', 'messages', 'responses'] as const) {
    it(`leaves what the model says as it is: ${endpoint}`, async () => {
      const { client } = await runLink(plugin, { config, endpoint, asked: { stream: true }, upstream: { text: 'Good morning' } })
      assert.deepEqual(client.said, { text: 'Good morning', finish: 'stop' })
    })
  }

  it('refuses a call that requests too many tokens', async () => {
    const { upstream } = await runLink(plugin, { config })
    assert.partialDeepStrictEqual(upstream[0]?.json(), { max_tokens: 100 })

    const refused = await runLink(plugin, { config, asked: { max_tokens: 101 } })
    assert.equal(refused.client.status, 403)
    assert.match(refused.client.error!.message, /Ask for at most 100 tokens\./)
    assert.deepEqual(refused.upstream, [])
  })

  it('sends the team if the upstream fails', async () => {
    const upstream = json({ error: { message: 'No' } }, { status: 500 })
    const { client, outcome } = await runLink(plugin, { config, upstream })
    assert.equal(client.status, 502)
    assert.equal(client.headers['x-team'], 'red')
    assert.equal(outcome.kind, 'upstream_error')
  })

  it('logs a slow call whose client disconnected', async () => {
    const stalled = hold()
    const upstream = sse([...openaiReply({ text: 'Hello' }).stream.slice(0, 2), stalled])
    const asked = { stream: true }
    const { outcome, log } = await runLink(plugin, { config: { ...config, slow: 0 }, asked, upstream, leaveAt: stalled })
    assert.equal(outcome.kind, 'client_closed')
    assert.deepEqual(
      log.map(({ msg, kind }) => [msg, kind]),
      [['a slow call', 'client_closed']],
    )
  })
})
