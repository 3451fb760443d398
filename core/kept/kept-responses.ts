import { setTimeout as delay } from 'node:timers/promises'
import { GatewayError } from '../errors.ts'
import { isResponseId } from '../protocol/responses/own-ids.ts'
import { type HostCounter, isRecord, parseRecord } from '../sdk/api.ts'
import type { Holder, Keeping } from './keeping.ts'
import type { SealedValues } from './sealed-values.ts'
import type { KeptTurn } from './turn.ts'
import type { SpaceName, ValueStore } from './value-store.ts'

const SPACE = 'responses' satisfies SpaceName

/** A turn before it is kept: JSON texts, which need not be parsed for that. */
export interface NewTurn {
  readonly chain: readonly string[]
  readonly input: string
  readonly response: string
}

/** A turn as the store has it. */
export const turnText = ({ chain, input, response }: NewTurn): string =>
  `{"chain":${JSON.stringify(chain)},"input":${input},"response":${response}}`

/** Undefined for what is no turn. */
export function readTurn(text: Buffer | undefined): KeptTurn | undefined {
  const turn = text && parseRecord(text.toString())
  return turn !== undefined && Array.isArray(turn.chain) && isRecord(turn.response) ? (turn as unknown as KeptTurn) : undefined
}

/** The most bytes of the turns to which a call refers: more than a body may have. */
const MOST_BYTES = 32 << 20
/** Turns that are read at once: at first, and at most. */
const FIRST_READ = 16
const MOST_READ = 256

/** Pauses before a response is sought again that is not there, in milliseconds: another process may be about to keep it. */
const PAUSES_MS = [50, 200]

/** The services that keep responses. */
export interface KeptResponsesServices {
  readonly values: ValueStore
  /** Counts responses: by space and result. */
  readonly keptUses: HostCounter
}

/** The responses that the gateway keeps for an account, by their ids. */
export class KeptResponses {
  readonly #values: SealedValues
  readonly #uses: HostCounter

  private constructor(values: SealedValues, uses: HostCounter) {
    this.#values = values
    this.#uses = uses
  }

  /** Undefined if nothing of this account is kept. */
  static of(
    holder: Holder,
    keeping: Keeping | undefined,
    { values, keptUses }: KeptResponsesServices,
  ): KeptResponses | undefined {
    const sealed = keeping?.valuesOf(holder, SPACE, values)
    return sealed && new KeptResponses(sealed, keptUses)
  }

  /** The turns of those ids that are kept. Throws `GatewayError` (503) if the store cannot be reached. */
  async get(wanted: readonly string[]): Promise<ReadonlyMap<string, KeptTurn>> {
    const ids = wanted.filter(isResponseId)
    if (ids.length === 0) return new Map()
    let turns = await this.#read(ids)
    for (const pause of PAUSES_MS) {
      if (turns.size === ids.length) break
      await delay(pause)
      turns = await this.#read(ids)
    }
    this.#count(turns.size, 'found')
    this.#count(ids.length - turns.size, 'missing')
    return turns
  }

  /** Keeps a turn. Nobody waits for it: a response that is late or lost is not found. */
  keep(id: string, turn: NewTurn): void {
    this.#values.put(new Map([[id, Buffer.from(turnText(turn))]])).then(
      (result) => this.#count(1, result),
      () => this.#count(1, 'unavailable'),
    )
  }

  /** Removes a response with all of its turn. Throws `GatewayError` (503) if the store cannot be reached. */
  delete(id: string): Promise<void> {
    return this.#values.delete([id]).catch(this.#unreachable)
  }

  /** Reads a few at first: how many may be read at once depends on their size. Throws `GatewayError` (413) if they are too large together. */
  async #read(ids: readonly string[]): Promise<Map<string, KeptTurn>> {
    const turns = new Map<string, KeptTurn>()
    let bytes = 0
    for (let from = 0, count = FIRST_READ; from < ids.length; ) {
      for (const [id, value] of await this.#values.get(ids.slice(from, from + count)).catch(this.#unreachable)) {
        bytes += value.length
        const turn = readTurn(value)
        if (turn !== undefined) turns.set(id, turn)
      }
      from += count
      if (bytes > MOST_BYTES) throw new GatewayError('request_too_large', { values: { limit: MOST_BYTES } })
      count = Math.max(1, Math.min(MOST_READ, Math.floor(((MOST_BYTES - bytes) * from) / Math.max(bytes, 1))))
    }
    return turns
  }

  readonly #unreachable = (cause: unknown): never => {
    this.#count(1, 'unavailable')
    throw new GatewayError('kept_responses_unavailable', { cause })
  }

  #count(responses: number, result: string): void {
    if (responses > 0) this.#uses.add(responses, SPACE, result)
  }
}
