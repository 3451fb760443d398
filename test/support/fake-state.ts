import type { CallState, Outcome, Principal } from 'unified-model-gateway/plugin'
import { type FakeCall, fakeCall } from './fake-call.ts'

export const OWNER: Principal = { keyId: 'key_1', name: 'laptop', kind: 'live', account: 'acme', models: [['*']] }

/** What a chain plugin finds in `ctx.state`, under the test's control. */
export interface FakeState extends CallState {
  /** How often the body was asked for. */
  readonly reads: number
  /** Runs what was registered for the end of the call. */
  settle(outcome?: Partial<Outcome>): Promise<void>
}

export type FakeStateOptions = Partial<
  Pick<CallState, 'endpoint' | 'principal' | 'served' | 'attempts' | 'failure' | 'tags' | 'elapsed'>
> & {
  /** What the body asks for, or the error it is refused with. */
  readonly body?: Parameters<typeof fakeCall>[0] | Error
}

export function fakeState({ body = {}, ...options }: FakeStateOptions = {}): FakeState {
  const atEnd: Parameters<CallState['onSettled']>[0][] = []
  let call: FakeCall | undefined
  let reads = 0
  return {
    id: 'req_fake',
    endpoint: 'chat.completions',
    principal: OWNER,
    tags: {},
    upstreamHeaders: {},
    trace: undefined,
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
