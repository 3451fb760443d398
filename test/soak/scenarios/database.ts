import { join } from 'node:path'
import { serveEndlessStreams } from '../endless-streams.ts'
import { startPostgres } from '../postgres.ts'
import type { Finding, Scenario } from '../scenario.ts'
import { checkKills } from './kills.ts'
import { checkRevocation } from './revocation.ts'
import { checkUnavailableDatabase } from './unavailable-database.ts'

/** Several gateways on one database: revocation, an unavailable database, and killed gateways. */
export const database: Scenario = {
  name: 'database',
  seconds: 1800,
  async run(fixture, progress) {
    serveEndlessStreams(fixture.open, AbortSignal.abort())
    const postgres = await startPostgres(fixture.workspace)
    const gateways = [await fixture.start(postgres.url), await fixture.start(postgres.url), await fixture.start(postgres.url)]
    const findings: Finding[] = []
    for (const count of [2, 3]) {
      progress(`revoking keys, ${count} gateways`)
      findings.push(...(await checkRevocation(gateways.slice(0, count))))
    }
    progress('stopping the database')
    findings.push(...(await checkUnavailableDatabase(gateways.slice(0, 2), postgres)))
    for (const gateway of gateways) gateway.kill('SIGKILL')
    const victims = { PostgreSQL: postgres.url, SQLite: `sqlite:${join(fixture.workspace.scratch, 'killed.db')}` }
    for (const [name, url] of Object.entries(victims)) findings.push(...(await checkKills(fixture, { name, url }, progress)))
    return findings
  },
}
