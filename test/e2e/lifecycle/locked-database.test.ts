import { expect } from 'chai'
import { Client } from 'pg'
import { openStore } from '../../../core/store/database.ts'
import { onPostgres } from '../../support/databases.ts'
import { Home } from './umg.ts'

const ROUTES = `version: 1
chain:
  - plugin: auth
namespaces:
  sandbox: { provider: sandbox }
`

onPostgres('a gateway whose database has a locked table', (database) => {
  let home: Home | undefined
  let other: Client | undefined

  afterEach(async () => {
    await other?.end()
    await home?.remove()
  })

  for (const workers of ['1', '2'])
    it(`ends at its start within the deadline of short queries, and says what to do: ${workers} workers`, async () => {
      const url = await database()
      await (await openStore(url)).close()
      other = new Client(url)
      await other.connect()
      await other.query('begin')
      await other.query('lock table accounts in access exclusive mode')
      home = await Home.create({ 'routes.yaml': ROUTES })
      const startedAt = performance.now()
      const { code, stderr } = await home.run(['start', '--port', '0', '--workers', workers, '--database', url]).ended
      expect(stderr).to.include('See that its server and the network work and that nothing locks its tables')
      expect(code).to.equal(1)
      // Two queries of 5 s each, and the start of processes; those with the deadline of long lists would take 30 s each.
      expect(performance.now() - startedAt).to.be.below(45_000)
    })
})
