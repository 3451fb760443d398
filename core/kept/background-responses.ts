import { GatewayError } from '../errors.ts'
import { cancelledResponse, failedResponse } from '../protocol/responses/background.ts'
import { parseRecord } from '../sdk/api.ts'
import type { Holder, Keeping } from './keeping.ts'
import { type NewTurn, readTurn, turnText } from './kept-responses.ts'
import type { SealedValues } from './sealed-values.ts'
import type { KeptTurn } from './turn.ts'
import type { Kept, ValueStore } from './value-store.ts'

/** How far a call has come that has not ended. */
export type PendingStatus = 'queued' | 'in_progress'

/** An event of a stream, by its number: its frame. */
export type NumberedEvent = readonly [number: number, frame: string]

/** A background response as it is now. Of one that has not ended, its `response` has no output. */
export interface FoundResponse {
  readonly turn: KeptTurn
  readonly hasEnded: boolean
}

/** The services that keep background responses. */
export interface BackgroundStore {
  readonly values: ValueStore
  /** How long the process that runs a call may be silent before the call counts as ended, in milliseconds. */
  readonly lease: number
}

/** Parts of a stream that are read at a time. */
const PARTS = 8

/**
 * The background responses of an account, in any process: what is known of them until they have ended, their events, and their ends
 * (docs/decisions/background-responses.md). All methods throw `GatewayError` (503) if the store cannot be reached.
 */
export class BackgroundResponses {
  readonly #turns: SealedValues
  readonly #passing: SealedValues
  readonly #lease: number

  private constructor(turns: SealedValues, passing: SealedValues, lease: number) {
    this.#turns = turns
    this.#passing = passing
    this.#lease = lease
  }

  /** Undefined if nothing of this account is kept. */
  static of(holder: Holder, keeping: Keeping | undefined, { values, lease }: BackgroundStore): BackgroundResponses | undefined {
    const turns = keeping?.valuesOf(holder, 'responses', values)
    const passing = keeping?.passingValuesOf(holder, 'background', values)
    return turns && passing && new BackgroundResponses(turns, passing, lease)
  }

  /** A call begins. `events`: the first ones of its stream; empty if it has none. Throws 503 if there is no room to keep what it makes. */
  async begin(id: string, turn: NewTurn, events: readonly NumberedEvent[]): Promise<void> {
    const entries = [[id, Buffer.from(turnText(turn))] as const, leaseOf(id, 'queued')]
    if (events.length > 0) entries.push(partOf(id, 0, events))
    const kept = await this.#passing.put(new Map(entries)).catch(unreachable)
    if (kept !== 'kept') throw new GatewayError('kept_responses_unavailable')
  }

  /** The process that runs a call says that it does. Resolves to whether the call goes on: false if it was ended elsewhere, deleted since or not. */
  async renew(id: string, status: PendingStatus): Promise<boolean> {
    const [begun, ended] = await Promise.all([
      this.#passing.get([id]),
      this.#turn(id),
      this.#passing.put(new Map([leaseOf(id, status)])),
    ])
    return begun.has(id) && ended === undefined
  }

  /** The process that runs a call keeps how it ended, unless it was ended elsewhere. Resolves to false if that is too large to be kept. */
  async finish(id: string, turn: NewTurn): Promise<boolean> {
    const begun = await this.#passing.get([id]).catch(unreachable)
    // What was ended elsewhere may have been deleted since.
    return !begun.has(id) || (await this.#end(id, turn)) !== 'too_large'
  }

  /** Cancels a call that has not ended. Resolves to how it ended; undefined for an unknown response. */
  async cancel(id: string): Promise<KeptTurn | undefined> {
    const found = await this.find(id)
    if (found === undefined || found.hasEnded) return found?.turn
    return this.#endAs(id, found.turn, cancelledResponse(found.turn.response))
  }

  /** Removes what is left of a response that has ended: its events. */
  async delete(id: string): Promise<void> {
    for (let from = 0; ; from += PARTS) {
      const { length } = await this.events(id, from)
      if (length > 0) await this.#passing.delete(partNamesOf(id, from)).catch(unreachable)
      if (length < PARTS) return
    }
  }

  async #endAs(id: string, { chain, input }: KeptTurn, response: object): Promise<KeptTurn> {
    const kept = await this.#end(id, { chain, input: JSON.stringify(input), response: JSON.stringify(response) })
    if (kept === 'too_large') throw new GatewayError('kept_responses_unavailable')
    return kept
  }

  /** Ends a response, once: resolves to its turn, which is another than this one if it was ended elsewhere. */
  async #end(id: string, turn: NewTurn): Promise<KeptTurn | 'too_large'> {
    const text = Buffer.from(turnText(turn))
    const added = await this.#turns.add(id, text).catch(unreachable)
    if (added === 'too_large') return added
    const kept = added === 'taken' ? await this.#turn(id).catch(unreachable) : readTurn(text)
    if (kept === undefined || added === 'full') throw new GatewayError('kept_responses_unavailable')
    await this.#passing.delete([id, leaseNameOf(id)]).catch(unreachable)
    return kept
  }

  /** A response as it is now; undefined if it is unknown. If the process that ran its call is silent, it has failed. */
  async find(id: string): Promise<FoundResponse | undefined> {
    // In this order: what has ended between the two is found by the second one.
    const begun = await this.#passing.get([id, leaseNameOf(id)]).catch(unreachable)
    const ended = await this.#turn(id).catch(unreachable)
    if (ended !== undefined) return { turn: ended, hasEnded: true }
    const turn = readTurn(begun.get(id))
    if (turn === undefined) return undefined
    const { status, at } = parseRecord(begun.get(leaseNameOf(id))?.toString() ?? '{}') as { status?: PendingStatus; at?: number }
    if (Date.now() - (at ?? 0) <= this.#lease)
      return { turn: { ...turn, response: { ...turn.response, status: status ?? 'queued' } }, hasEnded: false }
    const failed = failedResponse(turn.response, new GatewayError('response_process_ended'))
    return { turn: await this.#endAs(id, turn, failed), hasEnded: true }
  }

  /** A call has not begun after all. */
  forget(id: string): Promise<void> {
    return this.#passing.delete([id, leaseNameOf(id)]).catch(unreachable)
  }

  /** Keeps a part of a stream. */
  putEvents(id: string, part: number, events: readonly NumberedEvent[]): Promise<Kept> {
    return this.#passing.put(new Map([partOf(id, part, events)])).catch(unreachable)
  }

  /** Whether the events of a response are kept. */
  async hasEvents(id: string): Promise<boolean> {
    return (await this.#passing.get([partNameOf(id, 0)]).catch(unreachable)).size > 0
  }

  /** The next parts of a stream that are kept. */
  async events(id: string, from: number): Promise<readonly (readonly NumberedEvent[])[]> {
    const names = partNamesOf(id, from)
    const found = await this.#passing.get(names).catch(unreachable)
    const missing = names.findIndex((name) => !found.has(name))
    return names.slice(0, missing < 0 ? PARTS : missing).map((name) => JSON.parse(found.get(name)!.toString()))
  }

  async #turn(id: string): Promise<KeptTurn | undefined> {
    return readTurn((await this.#turns.get([id])).get(id))
  }
}

const leaseNameOf = (id: string): string => `${id} lease`
const partNameOf = (id: string, part: number): string => `${id} ${part}`
const partOf = (id: string, part: number, events: readonly NumberedEvent[]) =>
  [partNameOf(id, part), Buffer.from(JSON.stringify(events))] as const
const partNamesOf = (id: string, from: number): readonly string[] =>
  Array.from({ length: PARTS }, (_, index) => partNameOf(id, from + index))

const leaseOf = (id: string, status: PendingStatus) =>
  [leaseNameOf(id), Buffer.from(JSON.stringify({ status, at: Date.now() }))] as const

function unreachable(cause: unknown): never {
  throw new GatewayError('kept_responses_unavailable', { cause })
}
