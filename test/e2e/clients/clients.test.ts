import { expect } from 'chai'
import type { Said } from '../../../core/testing/kit.ts'
import { describeWith } from '../../support/requirements.ts'
import { type Client, type EveryTask, type Gateway, type Looped, type Thought, weatherIn } from './client.ts'
import { CLIENTS } from './clients.ts'
import { COUNTED, type Fixture, type ScriptedModel, startFixture } from './fixture.ts'
import { startPythons, versionOf } from './python-clients.ts'
import { CHAT_ONLY, THOUGHT, VENDORS, type Vendor } from './vendors.ts'

const HELLO = 'Hello wörld 😀'
const USED = { input: 12, output: 7 }
const CITIES = ['Oslo', 'Rome']
const CALLS = CITIES.map((city) => ({ name: 'weather', arguments: { city } }))
const ROME = JSON.stringify({ city: 'Rome' })

/** One task: what the model says, and what the client must make of it. */
interface Case<Done> {
  readonly title: string
  readonly says: readonly Said[]
  readonly streamed: boolean
  expect(done: Done, model: ScriptedModel, client: Client): void
}

const loop = (title: string, streamed: boolean): Case<Looped> => ({
  title,
  says: [{ reasoning: THOUGHT, tools: CALLS }, { text: HELLO }],
  streamed,
  expect({ text, cities }, { asked, vendor }, { protocol }) {
    expect({ text, cities }).to.deep.equal({ text: HELLO, cities: CITIES })
    for (const city of CITIES) expect(asked[1]!.body).to.contain(weatherIn(city))
    const returned = vendor.returns(protocol)
    // Few clients of chat completions send back what the API does not name.
    if (returned.length > 0 && protocol !== 'chat')
      expect(returned.filter((text) => asked[1]!.body.includes(text))).to.have.length(1)
  },
})

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
    title: 'answers',
    says: [{ text: HELLO }],
    streamed: false,
    expect: (done) => expect(done).to.deep.equal({ text: HELLO, ...USED }),
  },
  stream: {
    title: 'streams an answer',
    says: [{ text: HELLO }],
    streamed: true,
    expect({ pieces, text, ...tokens }, _, { miscounts }) {
      expect(text).to.equal(HELLO)
      if (!miscounts) expect(tokens).to.deep.equal(USED)
      expect(pieces).to.have.length.above(1)
      expect(pieces.join('')).to.equal(HELLO)
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

/** Every client meets a strict vendor. All vendors are met by the newest clients of the protocols that are translated. */
const vendorsOf = ({ protocol, isEarlier }: Client): readonly Vendor[] =>
  isEarlier || protocol === 'chat' ? [CHAT_ONLY] : [...VENDORS, CHAT_ONLY]

describe('Official clients, with a model of each provider', () => {
  let fixture: Fixture
  let gateway: Gateway

  before(async () => {
    fixture = await startFixture()
    gateway = { ...fixture, pythons: startPythons(fixture) }
  })
  after(async () => {
    for (const python of gateway?.pythons.values() ?? []) await python.close()
    await fixture?.stop()
  })

  for (const client of CLIENTS) {
    const define = () => {
      if (client.python !== undefined)
        it('is of the major that its name says', async () => {
          expect(client.name.split(' ')[1]).to.equal((await versionOf(gateway, client)).split('.', 1)[0])
        })
      for (const vendor of vendorsOf(client)) {
        for (const name of Object.keys(client.tasks) as (keyof EveryTask)[]) {
          it(`${vendor.name} ${CASES[name].title}`, () => run(client, name, fixture.models.get(vendor)!))
        }
        it(`${vendor.name} breaks off its stream, which is an error`, async () => {
          const model = fixture.models.get(vendor)!
          model.breakOff(HELLO)
          const outcome = await client.tasks.stream(gateway, model.id).catch((error: unknown) => error)
          expect(outcome).to.be.instanceOf(Error)
          expect(model.asked).to.have.length(1)
        })
      }
    }
    const title = `${client.name}, ${client.protocol}`
    if (client.python === undefined) describe(title, define)
    else describeWith(client.python, title, define)
  }

  async function run(client: Client, name: keyof EveryTask, model: ScriptedModel): Promise<void> {
    const task = CASES[name]
    model.script(task.says)
    const done = await client.tasks[name]!(gateway, model.id)
    task.expect(done as never, model, client)
    expect(model.asked.map(({ streamed }) => streamed)).to.deep.equal(task.says.map(() => task.streamed))
  }
})
