import type { RetryCause } from '../config/schema/retry-causes.ts'
import { ClientCall } from '../protocol/call.ts'
import { chatCompletions } from '../protocol/chat-completions.ts'
import { ANY_KEY, routeFor, type Simulation, simulate } from '../routing/simulate.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { Call, Principal } from '../sdk/api.ts'

/** One way that calls go. */
export interface Way extends Simulation {
  /** How many of all calls go this way: above 0, at most 1. */
  readonly share: number
}

/** What is supposed of the calls. */
export interface Supposition {
  /** Whose calls they are. Absent: each comes with another key, which may call everything. */
  readonly principal?: Principal
  /** Which namespaces, or models of them, fail and how. */
  readonly failing: ReadonlyMap<string, RetryCause>
}

/** Foretells by which ways the calls of a model go, the most travelled first. */
export type Simulator = (model: string, supposition: Supposition) => readonly Way[]

const CALLS = 2000
/** Retries that a call has used up are back after so long, in milliseconds. */
const APART_MS = 60_000

/**
 * Rehearses many calls, by the very rules that serve them. Chance is the same each time, so that the answer is. The table is one that
 * nobody serves calls by: rehearsals use up its retries, and their clock runs ahead.
 */
export function createSimulator(table: RoutingTable): Simulator {
  let now = performance.now()
  return (name, { principal, failing }) => {
    const route = routeFor(table, name, principal ?? ANY_KEY)
    if (route === undefined) return [{ share: 1, tries: [], end: 'model_not_found' }]
    const call = sampleCall(table, name)
    const random = chance()
    const rehearsals = Array.from({ length: CALLS }, (_, number) => {
      now += APART_MS
      return simulate(route, { call, traveller: { key: principal?.keyId ?? `key ${number}`, random }, failing, now })
    })
    return [...Map.groupBy(rehearsals, (rehearsal) => JSON.stringify(rehearsal)).values()]
      .sort((a, b) => b.length - a.length)
      .map((alike) => ({ ...alike[0]!, share: alike.length / CALLS }))
  }
}

/** A call as plain as can be. */
function sampleCall(table: RoutingTable, model: string): Call {
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
  return new ClientCall(Buffer.from(JSON.stringify(body)), {
    id: 'req_rehearsal',
    endpoint: chatCompletions.name,
    check: chatCompletions.check,
    resolve: (name) => table.resolve(name),
    upstreamHeaders: {},
    decided: false,
  })
}

/** Numbers from 0 up to 1 that look like chance: a hash of 1, 2, 3 … (MurmurHash3's finalizer). */
function chance(): () => number {
  let drawn = 0
  return () => {
    drawn++
    let mixed = Math.imul(drawn, 0x9e3779b1)
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}
