import { expect } from 'chai'
import { DONE, FIN, json, sse } from '../../../core/testing/kit.ts'
import { type Fixture, startFixture } from './fixture.ts'

const chunk = (text: string, { index = 0, finish_reason = null as string | null } = {}) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'm-2026',
  choices: [{ text, index, logprobs: null, finish_reason }],
})
const USAGE = {
  ...chunk(''),
  choices: [],
  usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
}
const CHUNKS = [chunk('Once'), chunk(' upon'), chunk('', { finish_reason: 'length' })]
const ASKED = { model: 'open/m', prompt: 'Begin', max_tokens: 3 } as const

describe('POST /v1/completions, by the official SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  const textOf = async (model: string, more: object = {}): Promise<string> => {
    const stream = await fixture.gateway.openai().completions.create({ ...ASKED, ...more, model, stream: true })
    let text = ''
    for await (const { choices } of stream) text += choices.map((choice) => choice.text).join('')
    return text
  }

  it('completes a prompt', async () => {
    fixture.upstream.reply(
      json({
        ...chunk('Once upon', { finish_reason: 'length' }),
        usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
      }),
    )
    const { choices, usage } = await fixture.gateway.openai().completions.create(ASKED)
    expect([choices[0]!.text, usage!.total_tokens]).to.deep.equal(['Once upon', 5])
  })

  it('fails over if a choice has no text', async () => {
    for (const text of [null, undefined, 7, ['Once']]) {
      fixture.upstream.reply(
        json({ ...chunk(''), choices: [{ ...(text !== undefined && { text }), index: 0, finish_reason: 'stop' }] }),
      )
      fixture.upstream.reply(json(chunk('Once upon', { finish_reason: 'stop' })))
      const { choices } = await fixture.gateway.openai().completions.create({ ...ASKED, model: 'acme/m' })
      expect(choices[0]!.text).to.equal('Once upon')
    }
  })

  it('fails over if a stream ends with a reason that is no text', async () => {
    for (const reason of [7, ['stop'], { odd: 7 }, true]) {
      fixture.upstream.reply(sse([{ ...chunk(''), choices: [{ text: '', index: 0, finish_reason: reason }] }, DONE]))
      fixture.upstream.reply(sse([...CHUNKS, DONE]))
      expect(await textOf('acme/m')).to.equal('Once upon')
    }
  })

  it('streams, and asks for the usage that only a client which asked for it gets', async () => {
    for (const include_usage of [false, true]) {
      const sent = fixture.upstream.reply(sse([...CHUNKS, USAGE, DONE]))
      const { data, response } = await fixture.gateway
        .openai()
        .completions.create({ ...ASKED, stream: true, ...(include_usage && { stream_options: { include_usage } }) })
        .withResponse()
      const chunks = await Array.fromAsync(data)
      expect(chunks).to.deep.equal(include_usage ? [...CHUNKS, USAGE] : CHUNKS)
      expect((await sent).json()).to.deep.include({ model: 'm', stream_options: { include_usage: true } })
      const row = await fixture.row(response.headers.get('x-request-id'))
      expect(row).to.deep.include({ endpoint: 'completions', stream: true, outcome: 'ok' })
      expect(row.tokens).to.include({ input: 2, output: 3, estimated: false })
    }
  })

  it('fails over until there is text', async () => {
    fixture.upstream.reply(sse([chunk(''), FIN]))
    fixture.upstream.reply(sse([...CHUNKS, DONE]))
    expect(await textOf('acme/m')).to.equal('Once upon')
  })

  it('never makes a cut stream look finished, of one prompt or of several', async () => {
    const cuts = [
      { prompt: 'Begin', events: [chunk('Once')] },
      { prompt: ['Begin', 'Go'], events: [chunk('Once'), chunk('', { finish_reason: 'stop' }), chunk('Away', { index: 1 })] },
    ]
    for (const { prompt, events } of cuts) {
      fixture.upstream.reply(sse([...events, FIN]))
      const failure = await textOf('open/m', { prompt }).catch((error: unknown) => error)
      expect(failure).to.include({ code: 'upstream_disconnected' })
    }
  })

  it('takes lists of tokens, and several prompts', async () => {
    for (const prompt of [
      [1, 2, 3],
      ['a', 'b'],
      [[1], [2]],
    ]) {
      const sent = fixture.upstream.reply(json({ ...chunk('x', { finish_reason: 'stop' }) }))
      await fixture.gateway.openai().completions.create({ model: 'open/m', prompt: prompt as string[] })
      expect((await sent).json()).to.deep.equal({ model: 'm', prompt })
    }
  })
})
