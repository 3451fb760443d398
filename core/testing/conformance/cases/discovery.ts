import assert from 'node:assert/strict'
import { NAMESPACE, type Suite } from '../harness.ts'
import { isAbsent } from '../provider-under-test.ts'
import { itWithSdk } from '../sdk.ts'

/** Cases for `/v1/models`: clients see the models that the upstream lists. */
export function describeDiscovery(suite: Suite): void {
  const { discovery } = suite.subject
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
