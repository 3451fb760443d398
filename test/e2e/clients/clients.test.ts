import { expect } from 'chai'
import type { Said } from '../../../core/testing/kit.ts'
import type { PythonProcess } from '../../support/python-process.ts'
import { describeWith, find } from '../../support/requirements.ts'
import { agentsSdk } from './agents-sdk.ts'
import { aiSdkAnthropic, aiSdkOpenai } from './ai-sdk.ts'
import { anthropicSdk } from './anthropic-sdk.ts'
import { type Client, type Gateway, type Looped, type Tasks, type Thought, weatherIn } from './client.ts'
import { COUNTED, type Fixture, type ScriptedModel, startFixture } from './fixture.ts'
import { chatAnthropic, chatOpenai } from './langchain.ts'
import { openaiSdk } from './openai-sdk.ts'
import { anthropicPython, openaiPython, startPython } from './python-clients.ts'
import { THOUGHT, VENDORS } from './vendors.ts'

const CLIENTS: readonly Client[] = [
  openaiSdk,
  openaiPython,
  agentsSdk,
  aiSdkOpenai,
  chatOpenai,
  anthropicSdk,
  anthropicPython,
  aiSdkAnthropic,
  chatAnthropic,
]

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
    if (returned.length > 0) expect(returned.filter((text) => asked[1]!.body.includes(text))).to.have.length(1)
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

const CASES: { readonly [Name in keyof Tasks]: Case<Awaited<ReturnType<Tasks[Name]>>> } = {
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

describe('Official clients, with a model of each provider', () => {
  let fixture: Fixture
  let python: PythonProcess | undefined
  let gateway: Gateway

  before(async () => {
    fixture = await startFixture()
    python = find('python') === undefined ? undefined : startPython(fixture)
    gateway = { ...fixture, python }
  })
  after(async () => {
    await python?.close()
    await fixture?.stop()
  })

  for (const client of CLIENTS) {
    const define = () => {
      for (const vendor of VENDORS) {
        for (const name of Object.keys(client.tasks) as (keyof Tasks)[]) {
          it(`${vendor.name} ${CASES[name].title}`, () => run(client, name, fixture.models.get(vendor)!))
        }
        it(`${vendor.name} breaks off its stream, which is an error`, async () => {
          const model = fixture.models.get(vendor)!
          model.breakOff(HELLO)
          const outcome = await client.tasks.stream!(gateway, model.id).catch((error: unknown) => error)
          expect(outcome).to.be.instanceOf(Error)
          expect(model.asked).to.have.length(1)
        })
      }
    }
    if (client.needs) describeWith(client.needs, client.name, define)
    else describe(client.name, define)
  }

  async function run<Name extends keyof Tasks>(client: Client, name: Name, model: ScriptedModel): Promise<void> {
    const task = CASES[name]
    model.script(task.says)
    const done = await client.tasks[name]!(gateway, model.id)
    task.expect(done as never, model, client)
    expect(model.asked.map(({ streamed }) => streamed)).to.deep.equal(task.says.map(() => task.streamed))
  }
})
