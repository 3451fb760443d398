import { join } from 'node:path'
import { serveEndless } from '../endless.ts'
import type { Finding, Line } from '../line.ts'
import { startPostgres } from '../postgres.ts'
import { tryKills } from './kills.ts'
import { tryOutage } from './outage.ts'
import { tryRevocation } from './revocation.ts'

/** Several gateways on one database: what one does the others know, and what becomes of them when it goes or they do. */
export const database: Line = {
  name: 'database',
  seconds: 1800,
  async run(stage, progress) {
    serveEndless(stage.open, AbortSignal.abort())
    const postgres = await startPostgres(stage.place)
    const gateways = [await stage.start(postgres.url), await stage.start(postgres.url), await stage.start(postgres.url)]
    const findings: Finding[] = []
    for (const count of [2, 3]) {
      progress(`revoking keys, ${count} gateways`)
      findings.push(...(await tryRevocation(gateways.slice(0, count))))
    }
    progress('stopping the database')
    findings.push(...(await tryOutage(gateways.slice(0, 2), postgres)))
    for (const { pid } of gateways) process.kill(pid, 'SIGKILL')
    const victims = { PostgreSQL: postgres.url, SQLite: `sqlite:${join(stage.place.scratch, 'killed.db')}` }
    for (const [name, url] of Object.entries(victims)) findings.push(...(await tryKills(stage, { name, url }, progress)))
    return findings
  },
}
