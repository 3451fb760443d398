import { setTimeout as delay } from 'node:timers/promises'
import type { SoakedGateway } from '../fixture.ts'
import { createKey, statusOf } from '../management.ts'
import type { Postgres } from '../postgres.ts'
import { atMost, exactly, type Finding } from '../scenario.ts'

const OUTAGE_MS = 30_000
const RECOVERY_MS = 5000
/** So often each gateway is called with each kind of key. */
const PAUSE_MS = 20
/** Calls are written a second after their end, and tried again a second after a failure. */
const WRITTEN_MS = 5000

/** The database is gone for half a minute: who is known is served, who is not is told to wait, and nobody's key is called wrong. */
export async function checkUnavailableDatabase(
  gateways: readonly SoakedGateway[],
  postgres: Postgres,
): Promise<readonly Finding[]> {
  const [known, strange, late] = await Promise.all(['known', 'strange', 'late'].map((name) => createKey(gateways[0]!, name)))
  const calls = new Calls(gateways)
  for (const gateway of gateways) await calls.make(gateway, known!.secret)
  await delay(WRITTEN_MS)
  const rowsBefore = await rowsIn(postgres)
  const callsBefore = calls.made
  const served = calls.begin(known!.secret)
  await postgres.stop()
  const refused = calls.begin(strange!.secret)
  await delay(OUTAGE_MS)
  const [statuses, strangeStatuses] = [await served.end(), await refused.end()]
  await postgres.start()
  const recovery = await calls.untilServed(late!.secret)
  await delay(WRITTEN_MS)
  const written = (await rowsIn(postgres)) - rowsBefore
  const made = calls.made - callsBefore
  const during = `the database gone for ${OUTAGE_MS / 1000} s:`
  return [
    exactly(
      0,
      `${during} of ${statuses.length} calls of a key in use, not served`,
      statuses.filter((status) => status !== 200).length,
    ),
    exactly(
      0,
      `${during} of ${strangeStatuses.length} of another, not told to wait`,
      strangeStatuses.filter((status) => status !== 503).length,
    ),
    exactly(0, `${during} answered 401`, [...statuses, ...strangeStatuses].filter((status) => status === 401).length),
    atMost(RECOVERY_MS, 'ms', 'afterwards, until every gateway knows every key', recovery),
    exactly(0, `afterwards, of ${made} calls, without a row`, made - written),
  ]
}

/** Calls to gateways, and how they were answered. */
class Calls {
  readonly #gateways: readonly SoakedGateway[]
  made = 0

  constructor(gateways: readonly SoakedGateway[]) {
    this.#gateways = gateways
  }

  make(gateway: SoakedGateway, secret: string): Promise<number> {
    this.made += 1
    return statusOf(gateway, secret)
  }

  /** Calls all gateways until the end. Resolves then to the statuses of the answers. */
  begin(secret: string): { end(): Promise<readonly number[]> } {
    const over = new AbortController()
    const statuses: number[] = []
    const callOften = async (gateway: SoakedGateway): Promise<void> => {
      while (!over.signal.aborted) {
        statuses.push(await this.make(gateway, secret))
        await delay(PAUSE_MS)
      }
    }
    const calling = Promise.all(this.#gateways.map(callOften))
    return {
      async end() {
        over.abort()
        await calling
        return statuses
      },
    }
  }

  /** Milliseconds until every gateway has served a call of this key. */
  async untilServed(secret: string): Promise<number> {
    const startedAt = performance.now()
    for (const gateway of this.#gateways) while ((await this.make(gateway, secret)) !== 200) await delay(PAUSE_MS)
    return performance.now() - startedAt
  }
}

async function rowsIn(postgres: Postgres): Promise<number> {
  const [row] = await postgres.query<{ count: string }>('select count(*) from calls')
  return Number(row!.count)
}
