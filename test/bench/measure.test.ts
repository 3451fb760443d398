import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { asUpstream, CHAT, MESSAGES, type UpstreamApi } from '../../bench/apis.ts'
import { measure } from '../../bench/measure.ts'
import { createProcesses, type Processes } from '../../bench/processes.ts'
import { SHORT_CHAT } from '../../bench/requests.ts'
import type { Scenario } from '../../bench/scenarios.ts'
import { type Subject, startUpstream, TOOLS } from '../../bench/subjects.ts'
import { describeWith } from '../support/requirements.ts'

const stream = { events: 3, delayUs: 0 }
const scenarioOf = (name: string, api: UpstreamApi, rest: Partial<Scenario> = {}): Scenario => ({
  name,
  unit: 'request',
  api,
  messages: SHORT_CHAT,
  connections: 1,
  seconds: 0.02,
  ...rest,
})
const WHOLE = scenarioOf('whole', CHAT)
const STREAM = scenarioOf('stream', CHAT, { stream, unit: 'stream' })

describeWith('compiler', 'a measurement', () => {
  let scratch: string
  let processes: Processes
  let upstream: number
  const servers: Server[] = []

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'umg-bench-test-'))
    processes = createProcesses()
    await processes.run({ name: 'make', program: 'make', args: ['--silent', '-C', TOOLS] })
    upstream = await startUpstream({ processes, scratch, cores: undefined })
  })

  after(async () => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
    await processes?.[Symbol.asyncDispose]()
    if (scratch) await rm(scratch, { recursive: true })
  })

  const subjectAt = (name: string, port: number): Subject => ({ name, port, asks: asUpstream })

  /** A subject that answers every request as it likes. */
  async function subjectThat(name: string, answer: RequestListener): Promise<Subject> {
    const server = createServer((request, response) => {
      request.resume().once('end', () => answer(request, response))
    })
    servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return subjectAt(name, (server.address() as AddressInfo).port)
  }

  /** Notes when it runs. */
  function asPeer(subject: Subject): Subject & { readonly calls: string[] } {
    const calls: string[] = []
    return { ...subject, calls, peer: { pause: () => calls.push('pause'), resume: () => calls.push('resume') } }
  }

  function run(scenarios: readonly Scenario[], subjects: readonly Subject[], progress: (message: string) => void = () => {}) {
    const place = { processes, scratch, cores: undefined }
    return measure({ scenarios, rounds: 2, countsGarbage: true, progress }, place, {
      direct: subjectAt('direct', upstream),
      all: [subjectAt('direct', upstream), ...subjects],
      key: 'sk-bench',
    })
  }

  const completion =
    (content: string): RequestListener =>
    (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message: { content } }] }))
    }

  it('has one row for each round, scenario and subject that gives the upstream’s text', async () => {
    const scenarios = [WHOLE, STREAM, scenarioOf('messages', MESSAGES, { stream, unit: 'stream' })]
    const { measurements, failures } = await run(scenarios, [asPeer(subjectAt('relay', upstream))])
    expect(failures).to.deep.equal([])
    expect(measurements.filter(({ subject }) => subject === 'relay')).to.have.length(2 * scenarios.length)
  })

  it('counts what a unit allocates, of the subjects that can tell', async () => {
    let bytes = 0
    const counted = { ...subjectAt('relay', upstream), allocated: async () => bytes++ << 20 }
    const { garbage } = await run([WHOLE], [counted])
    expect(garbage.map(({ scenario, subject }) => ({ scenario, subject }))).to.deep.equal([{ scenario: WHOLE, subject: 'relay' }])
    expect(garbage[0]!.kibibytes).to.be.within(0.001, 1024)
  })

  it('leaves out a peer that gives another text than the upstream, quick as it may be', async () => {
    const liar = asPeer(await subjectThat('liar', completion('wrong')))
    const { measurements, failures } = await run([WHOLE], [liar])
    expect(failures).to.have.length(1)
    expect(failures[0]).to.include({ subject: 'liar', scenario: WHOLE })
    expect(failures[0]!.reason).to.contain('liar gave another text than the upstream: 5 characters of 200')
    expect(measurements.map(({ subject }) => subject)).to.deep.equal(['direct', 'direct'])
  })

  it('leaves out a peer only where it fails', async () => {
    const half = asPeer(await subjectThat('half', completion('y'.repeat(200))))
    const { measurements, failures } = await run([STREAM, WHOLE], [half])
    expect(failures.map(({ scenario }) => scenario)).to.deep.equal([STREAM])
    expect(measurements.filter(({ subject }) => subject === 'half').map(({ scenario }) => scenario)).to.deep.equal([WHOLE, WHOLE])
  })

  it('says with which status and words a peer refused', async () => {
    const refusing = await subjectThat('refusing', (_, response) => response.writeHead(500).end('no streams'))
    const messages: string[] = []
    const { failures } = await run([STREAM], [asPeer(refusing)], (message) => messages.push(message))
    expect(failures[0]!.reason).to.equal('it answered with status 500: no streams')
    expect(messages).to.contain('refusing failed in stream: it answered with status 500: no streams')
  })

  it('leaves out a peer where clients speak a protocol that it is not asked by', async () => {
    const asked = scenarioOf('asked', MESSAGES, { stream, unit: 'stream', client: 'messages' })
    const [peer, gateway] = [asPeer(subjectAt('peer', upstream)), subjectAt('gateway', upstream)]
    const { measurements, failures } = await run(
      [asked],
      [peer, { ...gateway, asks: (api) => ({ ...asUpstream(api), speaks: 'messages' }) }],
    )
    expect(failures).to.deep.equal([{ scenario: asked, subject: 'peer', reason: 'it is asked by chat completions only' }])
    expect(peer.calls).to.deep.equal([])
    expect(new Set(measurements.map(({ subject }) => subject))).to.deep.equal(new Set(['direct', 'gateway']))
  })

  it('drops the rounds of a peer that failed in a later one: errors are cheap', async () => {
    let answered = 0
    const tired = await subjectThat('tired', (request, response) => {
      // It answers while it is warmed up and in the first round; the load generator of the second finds it shut.
      if (rounds === 2) response.writeHead(503).end()
      else completion('y'.repeat(200))(request, response)
      answered++
    })
    let rounds = 0
    const { measurements, failures } = await run([WHOLE], [asPeer(tired)], (message) => {
      if (message.startsWith('round')) rounds++
    })
    expect(answered).to.be.above(0)
    expect(failures.map(({ subject }) => subject)).to.deep.equal(['tired'])
    expect(measurements.filter(({ subject }) => subject === 'tired')).to.deep.equal([])
  })

  it('ends when something else than a peer gives another text', async () => {
    const failure = await run([WHOLE], [await subjectThat('gateway', completion('wrong'))]).catch(String)
    expect(failure).to.contain('gateway gave another text than the upstream')
  })

  it('lets a peer run only while it is measured', async () => {
    const peer = asPeer(subjectAt('relay', upstream))
    await run([WHOLE], [peer])
    // Once to warm up, and in each of two rounds.
    expect(peer.calls).to.deep.equal(['resume', 'pause', 'resume', 'pause', 'resume', 'pause'])
  })

  it('gives no delay of events whose time a peer does not pass on', async () => {
    const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`
    const timeless = await subjectThat('timeless', (_, response) => {
      response.setHeader('content-type', 'text/event-stream')
      response.end(`${texts.map(event).join('')}data: [DONE]\n\n`)
    })
    const paced = scenarioOf('paced', CHAT, { stream, unit: 'event', rate: 100 })
    const texts = await upstreamTexts(paced)
    const { measurements, failures } = await run([paced], [asPeer(timeless)])
    expect(failures).to.deep.equal([])
    const [direct, peer] = ['direct', 'timeless'].map((name) => measurements.find(({ subject }) => subject === name)!)
    expect(direct).to.have.property('p50')
    expect(peer).to.not.have.property('p50')
  })

  /** The texts of the upstream's events. */
  async function upstreamTexts({ messages, api }: Scenario): Promise<string[]> {
    const response = await fetch(`http://127.0.0.1:${upstream}${api.path}`, {
      method: 'POST',
      body: JSON.stringify({ messages, model: api.model, stream: true, stop: 'bench;chunks=3;delay-us=0' }),
    })
    return Array.from((await response.text()).matchAll(/"content":"([^"]*)"/g), ([, content]) => content!)
  }
})
