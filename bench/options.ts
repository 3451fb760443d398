import { parseArgs } from 'node:util'
import { PEERS, type Peer } from './peers.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

/** What the command line asks for. */
export interface Options {
  readonly rounds: number
  readonly scenarios: readonly Scenario[]
  /** Whether streams are measured on which nothing happens. */
  readonly idleStreams: boolean
  /** Whether gateways are measured too whose limits are in memory and in Redis. */
  readonly limits: boolean
  /** Measured too; none without `--peers`. */
  readonly peers: readonly Peer[]
}

/** Not a load: the cost of streams on which nothing happens. */
const IDLE = { name: 'idle-streams' }

const namesOf = (table: readonly { readonly name: string }[]): string => table.map(({ name }) => name).join(',')

/** How the command is called. */
export const USAGE = `usage: npm run bench -- [--rounds N] [--scenarios ${namesOf([...SCENARIOS, IDLE])}] [--limits] [--peers[=${namesOf(PEERS)}]]`

/** Reads the command line. Throws with a sentence where it is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: args.map((argument) => (argument === '--peers' ? `--peers=${namesOf(PEERS)}` : argument)),
    options: {
      rounds: { type: 'string', default: '5' },
      scenarios: { type: 'string' },
      limits: { type: 'boolean', default: false },
      peers: { type: 'string' },
    },
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) throw new Error('--rounds is a whole number from 1 to 100.')
  const chosen =
    values.scenarios === undefined ? [...SCENARIOS, IDLE] : choose('scenario', [...SCENARIOS, IDLE], values.scenarios)
  return {
    rounds,
    scenarios: chosen.filter((one) => one !== IDLE) as Scenario[],
    idleStreams: chosen.includes(IDLE),
    limits: values.limits,
    peers: values.peers === undefined ? [] : choose('peer', PEERS, values.peers),
  }
}

function choose<Entry extends { readonly name: string }>(kind: string, table: readonly Entry[], names: string): Entry[] {
  return names.split(',').map((name) => {
    const entry = table.find((one) => one.name === name)
    if (!entry) throw new Error(`There is no ${kind} "${name}".`)
    return entry
  })
}
