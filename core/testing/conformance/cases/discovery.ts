import assert from 'node:assert/strict'
import { NAMESPACE } from '../fixture.ts'
import { isAbsent } from '../scenarios.ts'
import { itWithSdk, type Suite } from '../suite.ts'

/** Whether clients see the models that the upstream offers. */
export function describeDiscovery(suite: Suite): void {
  const { discovery } = suite.subject
  if (isAbsent(discovery)) return

  itWithSdk('lists the models of its upstream', async () => {
    const models = await Array.fromAsync(suite.stage.sdk.models.list())
    assert.deepEqual(
      models.map(({ id }) => id),
      discovery.lists.map((name) => `${NAMESPACE}/${name}`),
    )
    for (const { object, created, owned_by } of models) {
      assert.deepEqual([object, typeof created, typeof owned_by], ['model', 'number', 'string'])
    }
  })
}
