import { parseArgs } from 'node:util'
import { PEERS, type Peer } from './peers.ts'
import { LEAST_ROUNDS } from './regressions.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { VARIANTS, type Variant } from './variants.ts'

/** What the command line asks for. */
export interface Options {
  readonly rounds: number
  readonly scenarios: readonly Scenario[]
  /** Whether streams are measured on which nothing happens. */
  readonly idleStreams: boolean
  /** Whether a gateway is measured that serves nothing. */
  readonly atRest: boolean
  /** Whether turns on sockets are measured beside calls by HTTP. */
  readonly turns: boolean
  /** Gateways with other settings, measured too; none without `--variants`. */
  readonly variants: readonly Variant[]
  /** Measured too; none without `--peers`. */
  readonly peers: readonly Peer[]
  /** A commit: this checkout is compared with it, and nothing else is measured. */
  readonly against?: string
}

/** Not of the load generator: the cost of streams on which nothing happens, of a gateway that serves nothing, and of turns on sockets. */
const IDLE = { name: 'idle-streams' }
const REST = { name: 'at-rest' }
const TURNS = { name: 'turns' }
const ONCE: readonly { readonly name: string }[] = [IDLE, REST, TURNS]

const ROUNDS = 5

const namesOf = (table: readonly { readonly name: string }[]): string => table.map(({ name }) => name).join(',')

/** The options, as `--help` and docs/performance.md explain them. */
export const EXPLAINED: readonly (readonly [option: string, meaning: string])[] = [
  ['--rounds N', `how often each scenario is measured; default ${ROUNDS}, with --against ${LEAST_ROUNDS}, and no fewer`],
  ['--scenarios a,b', 'only these; default all, idle-streams, at-rest and turns included'],
  ['--variants', 'gateways with other settings too; --variants=a,b: only these'],
  ['--peers', 'other gateways too; --peers=a,b: only these'],
  ['--against COMMIT', 'compares this checkout with a commit, and measures nothing else'],
  ['--help', 'shows this'],
]

/** How the command is called. */
export const USAGE = [
  'usage: npm run bench -- [options]',
  '',
  ...EXPLAINED.map(([option, meaning]) => `  ${option.padEnd(18)}${meaning}`),
  '',
  `scenarios: ${namesOf([...SCENARIOS, ...ONCE])}`,
  `variants:  ${namesOf(VARIANTS)}`,
  `peers:     ${namesOf(PEERS)}`,
].join('\n')

/** What each option names that may stand alone, for all of them. */
const TABLES = { peers: PEERS, variants: VARIANTS }

/** Reads the command line; undefined if it asks for help. Throws with a sentence where it is wrong. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: args.map((argument) => {
      const table = TABLES[argument.slice(2) as keyof typeof TABLES]
      return table === undefined ? argument : `${argument}=${namesOf(table)}`
    }),
    options: {
      rounds: { type: 'string' },
      scenarios: { type: 'string' },
      peers: { type: 'string' },
      variants: { type: 'string' },
      against: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return undefined
  const { against } = values
  if (against !== undefined && (values.peers ?? values.variants) !== undefined)
    throw new Error('--against compares two versions alone: run --variants and --peers without it.')
  const least = against === undefined ? 1 : LEAST_ROUNDS
  const rounds = Number(values.rounds ?? (against === undefined ? ROUNDS : LEAST_ROUNDS))
  if (!Number.isInteger(rounds) || rounds < least || rounds > 100)
    throw new Error(`--rounds is a whole number from ${least} to 100${against === undefined ? '' : ' with --against'}.`)
  // What is measured once and not in rounds: nothing would tell a difference from noise.
  const table: readonly { readonly name: string }[] = against === undefined ? [...SCENARIOS, ...ONCE] : SCENARIOS
  const chosen =
    values.scenarios === undefined
      ? table
      : choose(against === undefined ? 'scenario' : 'scenario of --against', table, values.scenarios)
  return {
    rounds,
    scenarios: chosen.filter((one) => !ONCE.includes(one)) as Scenario[],
    idleStreams: chosen.includes(IDLE),
    atRest: chosen.includes(REST),
    turns: chosen.includes(TURNS),
    variants: values.variants === undefined ? [] : choose('variant', VARIANTS, values.variants),
    peers: values.peers === undefined ? [] : choose('peer', PEERS, values.peers),
    ...(against !== undefined && { against }),
  }
}

function choose<Entry extends { readonly name: string }>(kind: string, table: readonly Entry[], names: string): Entry[] {
  return names.split(',').map((name) => {
    const entry = table.find((one) => one.name === name)
    if (!entry) throw new Error(`There is no ${kind} "${name}".`)
    return entry
  })
}
