import assert from 'node:assert/strict'
import { json } from '../../upstream/replies.ts'
import { NAMESPACE, type Suite } from '../harness.ts'
import { isAbsent } from '../provider-under-test.ts'
import { itWithSdk } from '../sdk.ts'

/** Cases for `/v1/models`: clients see the models that the upstream lists. And for the signal of the provider's own requests. */
export function describeDiscovery(suite: Suite): void {
  const { discovery, local } = suite.subject
  if (!local) it('sends no request of its own once its signal is aborted', () => expectAborted(suite))
  if (isAbsent(discovery)) return

  itWithSdk('lists the models of the upstream', async () => {
    const models = await Array.fromAsync(suite.harness.sdk.models.list())
    assert.deepEqual(
      models.map(({ id }) => id),
      discovery.lists.map((name) => `${NAMESPACE}/${name}`),
    )
    for (const { object, created, owned_by } of models) {
      assert.deepEqual([object, typeof created, typeof owned_by], ['model', 'number', 'string'])
    }
  })
}

/** It may ask for a token. */
async function expectAborted({ subject, harness: { provider, upstream, answer } }: Suite): Promise<void> {
  const signal = AbortSignal.abort()
  const before = upstream.requests.length
  answer(json({}))
  for (const send of [provider.models?.bind(provider), provider.check?.bind(provider)]) {
    if (send !== undefined) await assert.rejects(send(signal))
  }
  const sent = upstream.requests.slice(before).filter((received) => subject.besides?.(received) === undefined)
  assert.deepEqual(sent, [])
}
