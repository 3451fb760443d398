import type { AssumedCause } from '../../config/schema/retry-causes.ts'
import { ANY_KEY, routeFor, type Simulation, simulate } from '../../dispatch/simulate.ts'
import { type CallContext, ClientCall, UNCOUNTED } from '../../protocol/call.ts'
import { chatCompletions } from '../../protocol/chat-completions.ts'
import { JsonBody } from '../../protocol/json-body.ts'
import type { RoutingTable } from '../../routing/table.ts'
import type { Call, Principal } from '../../sdk/api.ts'

/** A sequence of attempts that calls make, and its share of all calls. */
export interface Way extends Simulation {
  /** Above 0, at most 1. */
  readonly share: number
}

/** The assumptions of a simulation. */
export interface Assumptions {
  /** The caller. Absent: each call has another key, which may call every model. */
  readonly principal?: Principal
  /** The namespaces and models that fail. */
  readonly failing: ReadonlyMap<string, AssumedCause>
}

/** Simulates calls of a model. Returns the ways that they go, by share in descending order. */
export type Simulator = (model: string, assumptions: Assumptions) => readonly Way[]

const CALLS = 2000
/** The time between two calls, after which the retry budget is full again. */
const INTERVAL_MS = 60_000

/**
 * Creates a simulator that runs the code that routes calls, with the same numbers each time in place of random ones, so that results are
 * reproducible. The table must not serve calls: the simulation consumes its retry budgets, at a time of its own.
 */
export function createSimulator(table: RoutingTable): Simulator {
  let now = performance.now()
  return (model, { principal, failing }) => {
    const route = routeFor(table, model, principal ?? ANY_KEY)
    if (route === undefined) return [{ share: 1, attempts: [], end: 'model_not_found' }]
    const call = createSampleCall(table, model)
    const simulations = Array.from({ length: CALLS }, (_, index) => {
      now += INTERVAL_MS
      return simulate(route, {
        call,
        selection: {
          key: principal?.keyId ?? `key ${index}`,
          account: principal?.account ?? '',
          headers: {},
          mayCall: () => true,
          random: drawsOf(index),
        },
        failing,
        now,
      })
    })
    return [...Map.groupBy(simulations, (simulation) => JSON.stringify(simulation)).values()]
      .sort((a, b) => b.length - a.length)
      .map((equal) => ({ ...equal[0]!, share: equal.length / CALLS }))
  }
}

function createSampleCall(table: RoutingTable, model: string): Call {
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
  const context: CallContext = {
    id: 'req_simulation',
    endpoint: chatCompletions.name,
    check: chatCompletions.check,
    resolve: (name) => table.find(name, undefined),
    upstreamHeaders: {},
    memory: UNCOUNTED,
    decided: false,
  }
  return new ClientCall(context, JsonBody.read(Buffer.from(JSON.stringify(body)), context))
}

/** The bases of the numbers that one call draws, as many as targets often are. */
const BASES = [2, 3, 5, 7, 11, 13, 17, 19]

/**
 * The numbers from 0 up to 1 that one of many calls draws. Over all calls those of each draw are spread evenly (Halton's sequence): random
 * ones would show shares that are off by a percent. Further draws are hashes (MurmurHash3's finalizer).
 */
function drawsOf(index: number): () => number {
  let draws = 0
  return () => {
    const base = BASES[draws++]
    return base === undefined ? hashOf(index * 1000 + draws) : mirrored(index + 1, base)
  }
}

/** The digits of a number in a base, mirrored at the point: 6, in binary 110, becomes 0.011. */
function mirrored(number: number, base: number): number {
  let [value, place, left] = [0, 1 / base, number]
  while (left > 0) {
    value += (left % base) * place
    left = Math.floor(left / base)
    place /= base
  }
  return value
}

/** From 0 up to 1. */
function hashOf(number: number): number {
  let hash = Math.imul(number, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** `  80 %  openai/gpt-5.5 (429) → claude/claude-sonnet-5` */
export function formatWay({ share, attempts, end }: Way): string {
  const steps = attempts.map(({ id, cause }) => (cause === undefined ? id : `${id} (${cause})`))
  return `  ${formatShare(share)}  ${(end.includes('/') ? steps : [...steps, end]).join(' → ')}`
}

/** ` 80 %`, the number right-aligned to three characters. */
export const formatShare = (share: number): string =>
  `${(share > 0 && share < 0.005 ? '<1' : String(Math.round(share * 100))).padStart(3)} %`

/** `openai fails (429) and local fails (timeout)` */
export const formatFailing = (failing: Iterable<readonly [name: string, cause: string]>): string =>
  Array.from(failing, ([name, cause]) => `${name} fails (${cause})`).join(' and ')
