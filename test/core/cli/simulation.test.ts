import { expect } from 'chai'
import fc from 'fast-check'
import { type ExplainedModel, explainRoute } from '../../../core/cli/config/explain-route.ts'
import { RoutesText } from '../../../core/cli/config/routes-text.ts'
import type { Config } from '../../../core/config/config.ts'
import { type DispatchedCall, dispatch } from '../../../core/dispatch/dispatch.ts'
import type { SelectionContext } from '../../../core/dispatch/plan.ts'
import { policyFor } from '../../../core/dispatch/retry.ts'
import { ANY_KEY, routeFor, type Simulation, simulate } from '../../../core/dispatch/simulate.ts'
import type { ErrorName } from '../../../core/error-table.ts'
import { GatewayError } from '../../../core/errors.ts'
import { chatReply } from '../../../core/protocol/chat-completions.ts'
import type { Route } from '../../../core/routing/route.ts'
import type { Call } from '../../../core/sdk/api.ts'
import { testCall } from '../../../core/testing/gateway/doubles.ts'
import { UpstreamClient } from '../../../core/upstream/client.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { tableOf } from './failing-upstreams.ts'
import { type Case, cases, curatedOf } from './random-tables.ts'

const RUNS = 1000

/** No reply of these tests is large. */
const UNUSED = { scan: () => expect.fail('a thread'), parse: () => expect.fail('a thread') }

describe('umg explain', () => {
  let client: UpstreamClient
  let closed: string

  before(async () => {
    client = new UpstreamClient()
    closed = await closedOrigin()
  })

  after(() => client?.close())

  it(`simulates the attempts that calls really make, on ${RUNS} random tables with calls and failures`, async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        const [simulated, real] = [tableOf(each, closed), tableOf(each, closed)].map((table) =>
          routeFor(table, each.model, ANY_KEY),
        )
        if (simulated === undefined || real === undefined) {
          expect(each.dormant.size).to.be.greaterThan(0)
          return
        }
        const call = testCall({ model: each.model, ...each.body })
        const simulation = simulate(simulated, {
          call,
          selection: selectionOf(each),
          failing: each.failing,
          now: performance.now(),
        })
        expect(await send(real, call, selectionOf(each))).to.deep.equal(simulation)
        expectExplained(explain(simulated, each), simulation, each)
      }),
      { numRuns: RUNS },
    )
  })

  /** Sends a call. Resolves to its attempts and its end, as a simulation has them. */
  async function send(route: Route, call: Call, selection: SelectionContext): Promise<Simulation> {
    const attempts: Simulation['attempts'][number][] = []
    const ending = new AbortController()
    const of: DispatchedCall = {
      signal: ending.signal,
      end: (reason) => ending.abort(reason),
      plan: undefined,
      running: undefined,
      ended: [],
      beginAttempt: () => undefined,
      mayAttempt: () => undefined,
      attempted({ namespace, model, result }) {
        const cause = result === 'ok' ? undefined : causeOf(result as ErrorName)
        attempts.push({ id: `${namespace}/${model}`, ...(cause !== undefined && { cause }) })
      },
      servedBy: () => undefined,
    }
    const request = {
      call,
      route,
      selection,
      format: chatReply,
      transforms: [],
      client,
      threads: UNUSED,
      timer: { ran: () => undefined },
      receivedAt: 0,
    }
    const end = await dispatch(request, of).then(
      () => attempts.at(-1)!.id,
      (error: GatewayError) => error.row,
    )
    return { attempts, end }
  }
})

/** If the client named the upstream's model, no other target is tried for one that does not exist. */
const causeOf = (row: ErrorName) => (row === 'model_not_found' ? 'not_found' : policyFor(new GatewayError(row)).cause)

/** The explanation of a route. */
function explain(route: Route, each: Case): ExplainedModel {
  const { curated, text } = curatedOf(each)
  const config = { curated, namespaces: new Map() } as unknown as Config
  return explainRoute(route, config, new RoutesText('random.yaml', text))
}

/** Expects that the explanation shows every target that can be tried, with its line in the file. */
function expectExplained(explained: ExplainedModel, { attempts }: Simulation, each: Case): void {
  const lines = curatedOf(each).text.split('\n')
  for (const { id, at } of membersOf(explained)) expect(lines[Number(at.split(':')[1]) - 1]).to.contain(id)
  const shown = leavesOf(explained)
  expect(shown).to.include.members(attempts.map(({ id }) => id))
  expect(shown.filter((id) => each.dormant.has(id.split('/', 1)[0]!))).to.deep.equal([])
  const plain =
    each.failing.size === 0 &&
    each.routes.every(({ defaults }) => Object.keys(defaults).length === 0) &&
    each.body.logprobs === undefined
  if (!plain) return
  const chosen = (explained.targets ?? []).flatMap(leavesOf)
  if (chosen.length > 0 && !each.routes.some(({ strict }) => strict)) expect(chosen).to.include(attempts[0]!.id)
}

const membersOf = ({ targets = [], fallbacks = [] }: ExplainedModel): readonly ExplainedModel[] =>
  [...targets, ...fallbacks].flatMap((member) => [member, ...membersOf(member)])

/** The models whose upstreams are not left out. */
function leavesOf(model: ExplainedModel): readonly string[] {
  if (model.provider !== undefined) return [model.id]
  return [...(model.targets ?? []), ...(model.fallbacks ?? [])].flatMap(leavesOf)
}

/** Its random numbers are small, so that the delays between attempts are short. */
function selectionOf({ key, seed }: Case): SelectionContext {
  let state = seed
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 / 1000
  }
  return { key, account: 'default', headers: {}, mayCall: () => true, random }
}
