import type { SoakedGateway } from '../fixture.ts'
import { createKey, revokeKey, statusOf } from '../management.ts'
import { atMost, exactly, type Finding } from '../scenario.ts'

const RUNS = 100
const LATEST_MS = 1000

/** A key that one of several gateways revokes: that one refuses its next call, the others soon. */
export async function checkRevocation(gateways: readonly SoakedGateway[]): Promise<readonly Finding[]> {
  const [first, ...others] = gateways as [SoakedGateway, ...SoakedGateway[]]
  let acceptedAfter = 0
  let slowest = 0
  for (let run = 0; run < RUNS; run++) {
    const { id, secret } = await createKey(first, `run ${run}`)
    await Promise.all(gateways.map((gateway) => expectStatus(gateway, secret, 200)))
    const asking = others.map((gateway) => untilRefused(gateway, secret))
    await revokeKey(first, id)
    const revokedAt = performance.now()
    if ((await statusOf(first, secret)) !== 401) acceptedAfter += 1
    for (const lastAcceptedAt of await Promise.all(asking)) slowest = Math.max(slowest, lastAcceptedAt - revokedAt)
  }
  const among = `${gateways.length} gateways, ${RUNS} keys revoked:`
  return [
    exactly(0, `${among} calls that the revoking one accepted afterwards`, acceptedAfter),
    atMost(LATEST_MS, 'ms', `${among} the last call that another accepted, after the revocation`, slowest),
  ]
}

/** Calls without a pause. Resolves to when the last call began that was accepted. */
async function untilRefused(gateway: SoakedGateway, secret: string): Promise<number> {
  for (let accepted = performance.now(); ; ) {
    const beganAt = performance.now()
    const status = await statusOf(gateway, secret)
    if (status === 401) return accepted
    if (status !== 200) throw new Error(`a key that is being revoked was answered ${status}`)
    accepted = beganAt
  }
}

async function expectStatus(gateway: SoakedGateway, secret: string, expected: number): Promise<void> {
  const status = await statusOf(gateway, secret)
  if (status !== expected) throw new Error(`a key was answered ${status}, not ${expected}`)
}
