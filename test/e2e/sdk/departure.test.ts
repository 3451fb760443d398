import { expect } from 'chai'
import OpenAI from 'openai'
import { hold, json, sse } from '../../../core/testing/kit.ts'
import { ask, type Said, splitAfter } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'

const TEXT: Said = { text: ['Hel', 'lo!'] }

describe('A client that disconnects', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    for (const stream of [false, true]) {
      it(`before the first byte stops the upstream${stream ? ' of a stream' : ''} (${dialect.name})`, async () => {
        const asked = fixture.upstream(dialect).reply([hold()])
        const { signal, abort } = leaving()
        const call = fixture.gateway.openai().chat.completions.create({ ...ask(dialect), stream }, { signal })
        const request = await asked
        abort()
        expect(await call.catch((error: unknown) => error)).to.be.instanceOf(OpenAI.APIUserAbortError)
        await request.closed
      })
    }

    it(`during a stream stops the upstream (${dialect.name})`, async () => {
      const [begin] = splitAfter(dialect.events(TEXT), 'Hel')
      const asked = fixture.upstream(dialect).reply(sse([...begin, hold()]))
      const { signal, abort } = leaving()
      const stream = await fixture.gateway.openai().chat.completions.create({ ...ask(dialect), stream: true }, { signal })
      let text = ''
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? ''
        if (text !== '') abort()
      }
      expect(text).to.equal('Hel')
      await (await asked).closed
    })

    it(`by leaving its loop stops the upstream (${dialect.name})`, async () => {
      const [begin] = splitAfter(dialect.events(TEXT), 'Hel')
      const asked = fixture.upstream(dialect).reply(sse([...begin, hold()]))
      for await (const _ of await fixture.gateway.openai().chat.completions.create({ ...ask(dialect), stream: true })) break
      await (await asked).closed
    })

    it(`during a whole reply stops the upstream (${dialect.name})`, async () => {
      const [head, body] = json(dialect.whole(TEXT)) as [string, string]
      const half = hold()
      const asked = fixture.upstream(dialect).reply([head, body.slice(0, 20), half])
      const { signal, abort } = leaving()
      const call = fixture.gateway.openai().chat.completions.create(ask(dialect), { signal })
      await half.reached
      abort()
      expect(await call.catch((error: unknown) => error)).to.be.instanceOf(OpenAI.APIUserAbortError)
      await (await asked).closed
    })
  }
})

function leaving(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
