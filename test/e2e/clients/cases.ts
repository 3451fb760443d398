import { expect } from 'chai'
import type { Said } from '../../../core/testing/kit.ts'
import { type Client, type EveryTask, type Gateway, type Looped, NEXT, QUESTION, type Thought, weatherIn } from './client.ts'
import { type Asked, COUNTED, type ScriptedModel } from './fixture.ts'
import { type Protocol, THOUGHT, type Vendor } from './vendors.ts'

/** One task: what the model says, and what the client must make of it. */
interface Case<Done> {
  readonly title: string
  readonly says: readonly Said[]
  readonly streamed: boolean
  expect(done: Done, model: ScriptedModel, client: Client): void
}

/** A text of a model. */
export const HELLO = 'Hello wörld 😀'

const FIRST = 'Rain, I am afraid.'
const USED = { input: 12, output: 7 }
const CITIES = ['Oslo', 'Rome']
const CALLS = CITIES.map((city) => ({ name: 'weather', arguments: { city } }))
const ROME = JSON.stringify({ city: 'Rome' })

/** The second request of a conversation has all that was said. */
function expectContinued({ asked }: ScriptedModel): void {
  for (const said of [QUESTION, FIRST, NEXT]) expect(asked[1]!.body).to.contain(said)
}

const loop = (title: string, streamed: boolean): Case<Looped> => ({
  title,
  says: [{ reasoning: THOUGHT, tools: CALLS }, { text: HELLO }],
  streamed,
  expect({ text, cities }, model, { protocol }) {
    expect({ text, cities }).to.deep.equal({ text: HELLO, cities: CITIES })
    for (const city of CITIES) expect(model.asked[1]!.body).to.contain(weatherIn(city))
    // Few clients of chat completions send back what the API does not name.
    if (protocol !== 'chat') expect(getsThoughtBack(model.vendor, protocol, model.asked[1]!)).to.not.equal(false)
  },
})

/** Whether a request with the results of tools has what the upstream thought before the calls; undefined if it has no need of it. */
export function getsThoughtBack(vendor: Vendor, protocol: Protocol, { body }: Asked): boolean | undefined {
  const wanted = vendor.returns(protocol)
  return wanted.length === 0 ? undefined : wanted.filter((text) => body.includes(text)).length === 1
}

const parse = (title: string, streamed: boolean): Case<unknown> => ({
  title,
  says: [{ text: ROME }],
  streamed,
  expect(done, { asked }) {
    expect(done).to.deep.equal({ city: 'Rome' })
    // As JSON, or as JSON within a string.
    expect(asked[0]!.body).to.match(/"city\\?"/)
  },
})

const think = (title: string, streamed: boolean): Case<Thought> => ({
  title,
  says: [{ reasoning: THOUGHT, text: HELLO }],
  streamed,
  expect: (done) => expect(done).to.deep.equal({ thought: THOUGHT, text: HELLO }),
})

const CASES: { readonly [Name in keyof EveryTask]: Case<Awaited<ReturnType<EveryTask[Name]>>> } = {
  ask: {
    title: 'answers two turns',
    says: [{ text: FIRST }, { text: HELLO }],
    streamed: false,
    expect(done, model) {
      expect(done).to.deep.equal({ text: HELLO, ...USED })
      expectContinued(model)
    },
  },
  stream: {
    title: 'streams the answers of two turns',
    says: [{ text: FIRST }, { text: HELLO }],
    streamed: true,
    expect({ pieces, text, ...tokens }, model, { miscounts }) {
      expect(text).to.equal(HELLO)
      if (!miscounts) expect(tokens).to.deep.equal(USED)
      expect(pieces).to.have.length.above(1)
      expect(pieces.join('')).to.equal(HELLO)
      expectContinued(model)
    },
  },
  loop: loop('calls tools until it is done', false),
  streamedLoop: loop('calls tools until it is done, streamed', true),
  parse: parse('answers with an object of a schema', false),
  streamedParse: parse('answers with an object of a schema, streamed', true),
  think: think('thinks', false),
  streamedThink: think('thinks, streamed', true),
  count: {
    title: 'has the tokens of a prompt counted',
    says: [],
    streamed: false,
    expect: (done, { vendor }) => (vendor.counts ? expect(done).to.equal(COUNTED) : expect(done).to.be.within(1, 20)),
  },
}

/** The tasks that a client has a way for. */
export const tasksOf = ({ tasks }: Client) => Object.keys(tasks) as (keyof EveryTask)[]

/** What a model does in a task, in words that follow its name. */
export const titleOfTask = (name: keyof EveryTask): string => CASES[name].title

/** A client does a task by a model. Throws an `AssertionError` if it gets anything else than what the model said, or the upstream anything else than what the client said. */
export async function doTask(client: Client, name: keyof EveryTask, gateway: Gateway, model: ScriptedModel): Promise<void> {
  const task = CASES[name]
  model.script(task.says)
  const done = await client.tasks[name]!(gateway, model.id)
  task.expect(done as never, model, client)
  expect(model.asked.map(({ streamed }) => streamed)).to.deep.equal(task.says.map(() => task.streamed))
}
