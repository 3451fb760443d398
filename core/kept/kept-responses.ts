import { isRecord, parseRecord } from '../sdk/api.ts'
import type { Keeping } from './keeping.ts'
import type { SealedValues } from './sealed-values.ts'
import type { Kept, ValueStore } from './value-store.ts'

/** One call of `/v1/responses` and its reply: a turn of a conversation. */
export interface KeptTurn {
  /** The ids of the responses that it goes on from, the oldest first. */
  readonly chain: readonly string[]
  /** What this call has added: `input` as the client sent it, a text or items. */
  readonly input: unknown
  /** The response, as the client got it. */
  readonly response: Readonly<Record<string, unknown>>
}

/** A turn before it is kept: JSON texts, which need not be parsed for that. */
export interface NewTurn {
  readonly chain: readonly string[]
  readonly input: string
  readonly response: string
}

/** The responses of one account, by their ids. All methods reject if the store cannot be reached. */
export class KeptResponses {
  readonly #values: SealedValues

  private constructor(values: SealedValues) {
    this.#values = values
  }

  /** Undefined if nothing of this account is kept. */
  static of(account: string, keeping: Keeping | undefined, store: ValueStore): KeptResponses | undefined {
    const values = keeping?.valuesAt({ space: 'responses', account }, store)
    return values && new KeptResponses(values)
  }

  /** The turns of those ids that are kept. */
  async get(ids: readonly string[]): Promise<ReadonlyMap<string, KeptTurn>> {
    const turns = new Map<string, KeptTurn>()
    if (ids.length === 0) return turns
    for (const [id, value] of await this.#values.get(ids)) {
      const turn = parseRecord(value.toString())
      if (turn !== undefined && Array.isArray(turn.chain) && isRecord(turn.response)) turns.set(id, turn as unknown as KeptTurn)
    }
    return turns
  }

  put(id: string, { chain, input, response }: NewTurn): Promise<Kept> {
    const text = `{"chain":${JSON.stringify(chain)},"input":${input},"response":${response}}`
    return this.#values.put(new Map([[id, Buffer.from(text)]]))
  }

  /** Removes a response with all of its turn. */
  delete(id: string): Promise<void> {
    return this.#values.delete([id])
  }
}
