import { type ChainPlugin, defineChain, type Outcome, type Principal, Type } from '../../sdk/api.ts'

const PRINCIPAL: Principal = { keyId: 'key_test', name: 'test', kind: 'live', account: 'test', models: [['*']] }

/** The first link of a gateway under test: sets the principal of each call, and reports its outcome. Serves one call at a time. */
export class TestAuth {
  readonly #upstreamHeaders: Readonly<Record<string, string>>
  #principal: Principal | undefined = PRINCIPAL
  #settled = Promise.withResolvers<Outcome>()

  /** `upstreamHeaders`: headers that it adds to each upstream request. */
  constructor(upstreamHeaders: Readonly<Record<string, string>> = {}) {
    this.#upstreamHeaders = upstreamHeaders
  }

  /** Sets the principal of the next call; null: none. Resolves to the call's outcome. */
  expectCall(principal: Partial<Principal> | null): Promise<Outcome> {
    this.#principal = principal === null ? undefined : { ...PRINCIPAL, ...principal }
    this.#settled = Promise.withResolvers()
    return this.#settled.promise
  }

  get plugin(): ChainPlugin {
    return defineChain({
      apiVersion: 1,
      name: 'test-auth',
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
