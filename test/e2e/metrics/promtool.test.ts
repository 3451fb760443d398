import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { startTestGateway } from '../../support/gateway.ts'
import { itWith } from '../../support/requirements.ts'

describe('the metrics', () => {
  itWith('promtool', "satisfy Prometheus' own linter", async () => {
    const gateway = await startTestGateway({
      routes: {
        chain: [
          { plugin: 'auth' },
          {
            plugin: 'rate-tagging',
            config: {
              classes: { one: { requests: '2/day' } },
              default: 'one',
              tags: { team: 'red {kind}' },
              metrics: ['team'],
            },
          },
          { plugin: 'header-stamping' },
        ],
        namespaces: { sandbox: { provider: 'sandbox', models: ['hello', 'e*'] } },
      },
    })
    try {
      const messages = [{ role: 'user', content: 'Hi' }]
      // One of each kind: served, streamed, refused by the limit, refused for an invalid key.
      for (const [stream, key] of [[false], [true], [true], [false, 'sk-live-nonsense']] as const) {
        const reply = await gateway.fetch('/v1/chat/completions', { json: { model: 'sandbox/hello', messages, stream }, key })
        await reply.text()
      }
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: await gateway.metrics(),
        encoding: 'utf8',
      })
      expect(stdout + stderr).to.equal('')
      expect(status).to.equal(0)
    } finally {
      await gateway.stop()
    }
  })
})
