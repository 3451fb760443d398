import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import { expect } from 'chai'
import { startTestGateway } from '../../support/gateway.ts'
import { manyLines, manyNamespaces } from '../../support/large-routes.ts'

/** The origin of upstreams that nobody calls. */
const ORIGIN = 'http://127.0.0.1:9'

const TABLES = [
  { what: 'namespaces', size: 200, table: (version: number) => manyNamespaces(200, ORIGIN, version) },
  { what: 'lines', size: 2000, table: (version: number) => manyLines(2000, ORIGIN, version) },
]

describe('A reload of a large table', () => {
  for (const { what, size, table } of TABLES) {
    // That it lets other work run when it has taken long is a fact of yieldIfLong; how long its turns are is measured by the soak test.
    it(`looks between its steps whether it has kept other work waiting: ${size} ${what}`, async () => {
      await using opened = new AsyncDisposableStack()
      const gateway = await startTestGateway({ routes: table(0) })
      opened.defer(() => gateway.stop())
      await writeFile(join(gateway.folder, 'routes.yaml'), table(1))
      const clock = mock.method(performance, 'now')
      opened.defer(() => clock.mock.restore())
      expect((await gateway.reload()).ok).to.equal(true)
      expect(clock.mock.callCount()).to.be.greaterThan(size / 2)
    })
  }
})
