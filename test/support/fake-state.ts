import type { CallState, Outcome, Principal, Usage } from 'unified-model-gateway/plugin'
import { type FakeCall, fakeCall } from './fake-call.ts'

export const OWNER: Principal = { keyId: 'key_1', name: 'laptop', kind: 'live', account: 'acme', models: [['*']] }

/** A `ctx.state` under the test's control. */
export interface FakeState extends CallState {
  /** How often `call()` was called. */
  readonly reads: number
  /** Runs the functions given to `onRetry`. */
  retry(used: Usage): Promise<void>
  /** Runs the functions given to `onSettled`. */
  settle(outcome?: Partial<Outcome>): Promise<void>
}

export type FakeStateOptions = Partial<
  Pick<CallState, 'endpoint' | 'principal' | 'served' | 'cost' | 'attempts' | 'failure' | 'tags' | 'elapsed'>
> & {
  /** The body, or the error of `call()`. */
  readonly body?: Parameters<typeof fakeCall>[0] | Error
}

export function fakeState({ body = {}, ...options }: FakeStateOptions = {}): FakeState {
  const atRetry: Parameters<CallState['onRetry']>[0][] = []
  const atEnd: Parameters<CallState['onSettled']>[0][] = []
  let call: FakeCall | undefined
  let reads = 0
  return {
    id: 'req_fake',
    endpoint: 'chat.completions',
    callsModel: options.endpoint !== 'models',
    principal: OWNER,
    tags: {},
    upstreamHeaders: {},
    trace: undefined,
    cost: undefined,
    reply: { send: () => undefined, transform: () => undefined },
    served: undefined,
    attempts: [],
    failure: undefined,
    elapsed: () => ({ total: 0, overhead: 0 }),
    signal: new AbortController().signal,
    ...options,
    async call() {
      reads++
      if (body instanceof Error) throw body
      call ??= fakeCall(body)
      return call
    },
    get model() {
      return call?.model
    },
    get reads() {
      return reads
    },
    onRetry: (fn) => void atRetry.push(fn),
    async retry(used) {
      for (const fn of atRetry) await fn(used)
    },
    onSettled: (fn) => void atEnd.push(fn),
    async settle(outcome) {
      for (const fn of atEnd) await fn({ ...NOTHING_SERVED, ...outcome })
    },
  }
}

const NOTHING_SERVED: Outcome = {
  kind: 'ok',
  status: 200,
  endpoint: 'chat.completions',
  stream: false,
  attempts: [],
  links: [],
  usageEstimated: false,
  times: { total: 0, overhead: 0 },
}
