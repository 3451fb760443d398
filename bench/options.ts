import { parseArgs } from 'node:util'
import { PEERS, type Peer } from './peers.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { VARIANTS, type Variant } from './variants.ts'

/** What the command line asks for. */
export interface Options {
  readonly rounds: number
  readonly scenarios: readonly Scenario[]
  /** Whether streams are measured on which nothing happens. */
  readonly idleStreams: boolean
  /** Gateways with other settings, measured too; none without `--variants`. */
  readonly variants: readonly Variant[]
  /** Measured too; none without `--peers`. */
  readonly peers: readonly Peer[]
}

/** Not a load: the cost of streams on which nothing happens. */
const IDLE = { name: 'idle-streams' }

const namesOf = (table: readonly { readonly name: string }[]): string => table.map(({ name }) => name).join(',')

/** How the command is called. */
export const USAGE = `usage: npm run bench -- [--rounds N] [--scenarios ${namesOf([...SCENARIOS, IDLE])}] [--variants[=${namesOf(VARIANTS)}]] [--peers[=${namesOf(PEERS)}]]`

/** What each option names that may stand alone, for all of them. */
const TABLES = { peers: PEERS, variants: VARIANTS }

/** Reads the command line. Throws with a sentence where it is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: args.map((argument) => {
      const table = TABLES[argument.slice(2) as keyof typeof TABLES]
      return table === undefined ? argument : `${argument}=${namesOf(table)}`
    }),
    options: {
      rounds: { type: 'string', default: '5' },
      scenarios: { type: 'string' },
      peers: { type: 'string' },
      variants: { type: 'string' },
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
    variants: values.variants === undefined ? [] : choose('variant', VARIANTS, values.variants),
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
