import { type ChainPlugin, defineChain, type Outcome, type Principal, Type } from '../sdk/api.ts'

const ANYBODY: Principal = { keyId: 'key_test', name: 'test', kind: 'live', account: 'test', models: [['*']] }

/** The first link of a gateway under test: says who calls, and hears how the call ended. Calls come one after the other. */
export class Doorman {
  readonly #upstreamHeaders: Readonly<Record<string, string>>
  #principal: Principal | undefined = ANYBODY
  #settled = Promise.withResolvers<Outcome>()

  /** `upstreamHeaders`: what it adds to each call's upstream request. */
  constructor(upstreamHeaders: Readonly<Record<string, string>> = {}) {
    this.#upstreamHeaders = upstreamHeaders
  }

  /** The next call is this one's; null: nobody's. Resolves with how it ended. */
  admit(principal: Partial<Principal> | null): Promise<Outcome> {
    this.#principal = principal === null ? undefined : { ...ANYBODY, ...principal }
    this.#settled = Promise.withResolvers()
    return this.#settled.promise
  }

  get plugin(): ChainPlugin {
    return defineChain({
      apiVersion: 1,
      name: 'doorman',
      schema: Type.Object({}),
      create: () => ({
        handle: ({ state }, next) => {
          const { resolve } = this.#settled
          state.principal = this.#principal
          Object.assign(state.upstreamHeaders, this.#upstreamHeaders)
          state.onSettled(resolve)
          return next()
        },
      }),
    })
  }
}
