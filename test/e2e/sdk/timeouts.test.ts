import { expect } from 'chai'
import { hold, json, sse } from '../../../core/testing/kit.ts'
import { caught } from './caught.ts'
import { ask, splitAfter } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'

const LATE = { code: 'upstream_timeout', type: 'server_error' }

describe('An upstream that never replies, in the SDK', () => {
  let fixture: Fixture
  let patient: Fixture

  before(async () => {
    const namespace = { timeouts: { firstByte: '50ms' } }
    fixture = await startFixture({ namespace })
    patient = await startFixture({ namespace, times: { heartbeat: 5 } })
  })

  after(() => Promise.all([fixture?.stop(), patient?.stop()]))

  for (const dialect of DIALECTS) {
    for (const stream of [false, true]) {
      it(`is a 504${stream ? ' for a stream too' : ''} (${dialect.name})`, async () => {
        fixture.upstream(dialect).on(() => [hold()])
        const call = fixture.gateway.openai().chat.completions.create({ ...ask(dialect), stream }, { maxRetries: 0 })
        expect(await caught(call)).to.include({ status: 504, ...LATE })
      })
    }

    it(`is an error in the stream after a heartbeat (${dialect.name})`, async () => {
      patient.upstream(dialect).on(() => [hold()])
      const stream = await patient.gateway.openai().chat.completions.create({ ...ask(dialect), stream: true })
      expect(await caught(Array.fromAsync(stream))).to.include({ status: undefined, ...LATE })
    })
  }
})

describe('An upstream that stalls in the middle, in the SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({ namespace: { timeouts: { idle: '100ms' } } })
  })

  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    it(`is a 504 (${dialect.name})`, async () => {
      const [head, body] = json(dialect.whole({ text: ['Hello'] })) as [string, string]
      fixture.upstream(dialect).on(() => [head, body.slice(0, 20), hold()])
      const call = fixture.gateway.openai().chat.completions.create(ask(dialect), { maxRetries: 0 })
      expect(await caught(call)).to.include({ status: 504, ...LATE })
    })

    it(`is an error after the received chunks (${dialect.name})`, async () => {
      const [begin] = splitAfter(dialect.events({ text: ['Hel', 'lo!'] }), 'Hel')
      fixture.upstream(dialect).on(() => sse([...begin, hold()]))
      const stream = await fixture.gateway.openai().chat.completions.create({ ...ask(dialect), stream: true })
      let text = ''
      async function read(): Promise<void> {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
      }
      expect(await caught(read())).to.include({ status: undefined, ...LATE })
      expect(text).to.equal('Hel')
    })
  }
})
