import { expect } from 'chai'
import fc from 'fast-check'
import { type ExplainedModel, explainRoute, Written } from '../../../core/cli/explain-model.ts'
import type { Config } from '../../../core/config/config.ts'
import { type ErrorName, GatewayError } from '../../../core/errors.ts'
import { chatReply } from '../../../core/protocol/chat-completions.ts'
import type { SelectionContext } from '../../../core/routing/attempt-planner.ts'
import { Dispatch } from '../../../core/routing/dispatch.ts'
import { policyFor } from '../../../core/routing/retry.ts'
import type { Route } from '../../../core/routing/route.ts'
import { ANY_KEY, routeFor, type Simulation, simulate } from '../../../core/routing/simulate.ts'
import type { Call } from '../../../core/sdk/api.ts'
import { UpstreamClient } from '../../../core/upstream/client.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { fakeCall } from '../../support/fake-call.ts'
import { tableOf } from './failing-upstreams.ts'
import { type Case, cases, curatedOf } from './random-tables.ts'

const RUNS = 1000

describe('what umg explain says', () => {
  let client: UpstreamClient
  let closed: string

  before(async () => {
    client = new UpstreamClient()
    closed = await closedOrigin()
  })

  after(() => client?.close())

  it(`is what happens, on ${RUNS} random tables with calls and failures`, async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        const [foretold, real] = [tableOf(each, closed), tableOf(each, closed)].map((table) =>
          routeFor(table, each.asked, ANY_KEY),
        )
        if (foretold === undefined || real === undefined) {
          expect(each.asleep.size).to.be.greaterThan(0)
          return
        }
        const call = fakeCall({ model: each.asked, ...each.body })
        const rehearsal = simulate(foretold, {
          call,
          traveller: travellerOf(each),
          failing: each.failing,
          now: performance.now(),
        })
        expect(await happen(real, call, travellerOf(each))).to.deep.equal(rehearsal)
        expectExplained(explain(foretold, each), rehearsal, each)
      }),
      { numRuns: RUNS },
    )
  })

  /** Sends the call, and tells what came of it in the words of a rehearsal. */
  async function happen(route: Route, call: Call, traveller: SelectionContext): Promise<Simulation> {
    const tries: Simulation['tries'][number][] = []
    const dispatch = new Dispatch(
      { call, route, selection: traveller, format: chatReply, client, timer: { ran: () => undefined } },
      {
        transforms: [],
        stream: undefined,
        onWait: () => undefined,
        onAttemptEnded({ namespace, model, result }) {
          const cause = result === 'ok' ? undefined : causeOf(result as ErrorName)
          tries.push({ id: `${namespace}/${model}`, ...(cause !== undefined && { cause }) })
        },
        onServed: () => undefined,
        fail: () => undefined,
      },
    )
    const end = await dispatch.run().then(
      () => tries.at(-1)!.id,
      (error: GatewayError) => error.row,
    )
    return { tries, end }
  }
})

/** Where the client chose the model, nobody else is asked for one that does not exist. */
const causeOf = (row: ErrorName) => (row === 'model_not_found' ? 'not_found' : policyFor(new GatewayError(row)).cause)

/** What `umg explain` would show. */
function explain(route: Route, each: Case): ExplainedModel {
  const { curated, text } = curatedOf(each)
  const config = { curated, namespaces: new Map() } as unknown as Config
  return explainRoute(route, { written: new Written('random.yaml', text), config })
}

/** What is shown is what may be asked, and stands in the lines that are shown for it. */
function expectExplained(explained: ExplainedModel, { tries }: Simulation, each: Case): void {
  const lines = curatedOf(each).text.split('\n')
  for (const { id, at } of membersOf(explained)) expect(lines[Number(at.split(':')[1]) - 1]).to.contain(id)
  const shown = leavesOf(explained)
  expect(shown).to.include.members(tries.map(({ id }) => id))
  expect(shown.filter((id) => each.asleep.has(id.split('/', 1)[0]!))).to.deep.equal([])
  const plain =
    each.failing.size === 0 &&
    each.routes.every(({ defaults }) => Object.keys(defaults).length === 0) &&
    each.body.logprobs === undefined
  if (!plain) return
  const chosen = (explained.targets ?? []).flatMap(leavesOf)
  if (chosen.length > 0 && !each.routes.some(({ strict }) => strict)) expect(chosen).to.include(tries[0]!.id)
}

const membersOf = ({ targets = [], fallbacks = [] }: ExplainedModel): readonly ExplainedModel[] =>
  [...targets, ...fallbacks].flatMap((member) => [member, ...membersOf(member)])

/** The models of upstreams that can be reached. */
function leavesOf(model: ExplainedModel): readonly string[] {
  if (model.provider !== undefined) return [model.id]
  return [...(model.targets ?? []), ...(model.fallbacks ?? [])].flatMap(leavesOf)
}

/** Small numbers, so that pauses between tries are short. */
function travellerOf({ key, seed }: Case): SelectionContext {
  let state = seed
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 / 1000
  }
  return { key, random }
}
