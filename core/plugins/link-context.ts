import { AsyncLocalStorage } from 'node:async_hooks'
import type { Limits } from '../sdk/api.ts'
import type { HostServices } from './host.ts'

/** A link that serves a call. */
export interface LinkOfCall {
  /** The link has lost an error or a rejected promise of this call: nothing awaits it. */
  lost(thrown: unknown): void
}

/**
 * The async context of a link that serves a call: whatever it starts has it, however late it ends. The links that come with the gateway
 * have none: entering a context costs more than half a microsecond.
 */
const context = new AsyncLocalStorage<LinkOfCall>()

/** Calls code of the link in its context. */
export const inLink = <Result>(link: LinkOfCall, work: () => Result): Result => context.run(link, work)

/** The items that code of the link makes while they are read, each in its context. */
export function itemsInLink<Item>(link: LinkOfCall, items: Iterable<Item> | AsyncIterable<Item>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = inLink(link, () =>
        Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator](),
      )
      return {
        next: async () => inLink(link, () => iterator.next()),
        return: async () => (await inLink(link, () => iterator.return?.())) ?? { done: true, value: undefined },
      }
    },
  }
}

/**
 * Calls the gateway's own code for a link, outside of its context: connections, threads and timers that it opens outlive the call, and
 * their errors are not the link's. A rejection that the link does not await is its own.
 */
export function outsideLink<Result>(work: () => Result): Result {
  const result = context.exit(work)
  return result instanceof Promise ? (rejectedHere(result) as Result) : result
}

/** A promise has the context in which it is rejected: that of the caller. */
const rejectedHere = async (working: Promise<unknown>): Promise<unknown> => await working

/** The services, called outside of the context of the link that uses them. */
export function servicesOutsideLinks({ keys, limits, workers, getJson, ...others }: HostServices): HostServices {
  return {
    ...others,
    keys: { verify: (secret) => outsideLink(() => keys.verify(secret)) },
    limits: limitsOutsideLinks(limits),
    workers: {
      countTokens: (call) => outsideLink(() => workers.countTokens(call)),
      compute: (call, fn, input) => outsideLink(() => workers.compute(call, fn, input)),
      run: (module, exportName, input) => outsideLink(() => workers.run(module, exportName, input)),
    },
    getJson: (url, options) => outsideLink(() => getJson(url, options)),
  }
}

function limitsOutsideLinks(limits: Limits): Limits {
  return {
    reserve: (scopes, tokens) => outsideLink(() => limits.reserve(scopes, tokens)),
    reserveFor({ state, request }, wanted) {
      const inLinkAgain = AsyncLocalStorage.snapshot()
      const { onBody, refusal } = wanted
      const asked: typeof wanted = {
        ...wanted,
        onBody: onBody && (() => inLinkAgain(onBody)),
        refusal: (refused) => inLinkAgain(() => refusal(refused)),
      }
      const hooks: typeof state = {
        call: () => state.call(),
        onRetry: (fn) => state.onRetry((used) => outsideLink(() => fn(used))),
        onSettled: (fn) => state.onSettled((outcome) => outsideLink(() => fn(outcome))),
      }
      return outsideLink(() => limits.reserveFor({ state: hooks, request }, asked))
    },
  }
}

/** Gives an error that nothing caught to the link in whose context it was thrown. False: it was thrown in none. */
export function giveToLink(thrown: unknown): boolean {
  const link = context.getStore()
  // What follows is the gateway's own.
  if (link !== undefined) context.exit(() => link.lost(thrown))
  return link !== undefined
}
