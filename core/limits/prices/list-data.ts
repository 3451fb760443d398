import { versionOf } from '../../config/kept-lists.ts'
import type { SourceName } from '../../config/schema/prices.ts'
import { parseWithin } from '../../protocol/upstream-json.ts'
import { expectVendors, genaiList, type Vendor } from './genai-prices.ts'
import { type LitellmModels, litellmList, readLitellm } from './litellm.ts'
import { type PublishedList, RefusedList } from './published-list.ts'

/** What is read of a list's text: plain data, which a thread can pass on. */
export type ListData = { readonly version: string } & (
  | { readonly source: 'genai-prices'; readonly vendors: readonly Vendor[] }
  | { readonly source: 'litellm'; readonly models: LitellmModels }
)

/** A list as its source publishes it. */
export interface ListText {
  readonly source: SourceName
  readonly text: string
}

/** Three times as many as LiteLLM's list of 2026-11 has. */
const MAX_VALUES = 500_000

/** Reads a list: LiteLLM's takes half a second, so a gateway does it in a thread. Throws `RefusedList`. */
export function readListData({ source, text }: ListText): ListData {
  const version = versionOf(text)
  return source === 'litellm'
    ? { source, version, models: readLitellm(parse(text)) }
    : { source, version, vendors: expectVendors(parse(text)) }
}

function parse(text: string): unknown {
  try {
    return parseWithin(text, MAX_VALUES)
  } catch {
    throw new RefusedList('it is no JSON, or has far too many values')
  }
}

/** The list of what was read. */
export const listOf = (data: ListData): PublishedList =>
  data.source === 'litellm' ? litellmList(data.models, data.version) : genaiList(data.vendors, data.version)

/** What makes a `RefusedList` again: between threads an error loses its class. */
export interface Refused {
  readonly refused: string
}

/** The result of a function of lists, or the message of the `RefusedList` that it throws. */
export async function orRefused<Result>(run: () => Result | Promise<Result>): Promise<Result | Refused> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof RefusedList) return { refused: error.message }
    throw error
  }
}

/** `readListData`, as a thread runs it. */
export const readInThread = (list: ListText): Promise<ListData | Refused> => orRefused(() => readListData(list))

/** The threads of a gateway. */
export interface Threads {
  run(module: URL, exportName: string, input: unknown): Promise<unknown>
}

/** Reads lists. Resolves to the message of the `RefusedList` for one that cannot be used. */
export type ListReader = (list: ListText) => Promise<PublishedList | Refused>

/** Reads lists in a thread; where all threads are busy, without one: a routing table must load. */
export const readerBy =
  (threads: Threads): ListReader =>
  async (list) => {
    const read = threads.run(new URL(import.meta.url), 'readInThread', list) as Promise<ListData | Refused>
    const data = await read.catch(() => readInThread(list))
    return 'refused' in data ? data : listOf(data)
  }

/** Reads lists where nothing else waits. */
export const readHere: ListReader = (list) => orRefused(() => listOf(readListData(list)))
