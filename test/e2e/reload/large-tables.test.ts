import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { startTestGateway } from '../../support/gateway.ts'
import { manyLines, manyNamespaces } from '../../support/large-routes.ts'
import { longestTurn } from '../../support/longest-turn.ts'

/** The origin of upstreams that nobody calls. */
const ORIGIN = 'http://127.0.0.1:9'

const TABLES = [
  { what: '200 namespaces', table: (version: number) => manyNamespaces(200, ORIGIN, version) },
  { what: '2,000 lines', table: (version: number) => manyLines(2000, ORIGIN, version) },
]

describe('A reload of a large table', () => {
  for (const { what, table } of TABLES) {
    it(`lets other work of the process run meanwhile: ${what}`, async () => {
      await using opened = new AsyncDisposableStack()
      const gateway = await startTestGateway({ routes: table(0) })
      opened.defer(() => gateway.stop())
      const parts: number[] = []
      for (let version = 1; version <= 3; version++) {
        await writeFile(join(gateway.folder, 'routes.yaml'), table(version))
        parts.push(await longestTurn(async () => expect((await gateway.reload()).ok).to.equal(true)))
      }
      expect(Math.min(...parts)).to.be.lessThan(0.1)
    }).timeout(60_000)
  }
})
