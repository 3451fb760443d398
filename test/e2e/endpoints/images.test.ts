import { expect } from 'chai'
import { event, FIN, json, sse } from '../../../core/testing/kit.ts'
import { type Fixture, startFixture } from './fixture.ts'

const USAGE = {
  input_tokens: 20,
  output_tokens: 4160,
  total_tokens: 4180,
  input_tokens_details: { text_tokens: 15, image_tokens: 5 },
}
const PICTURE = 'iVBORw0KGgo'.repeat(100_000)
const part = (type: string, more: object) => event({ type, created_at: 1, size: '1024x1024', ...more }, type)
const PARTIAL = part('image_generation.partial_image', { b64_json: PICTURE, partial_image_index: 0 })
const COMPLETED = part('image_generation.completed', { b64_json: PICTURE, usage: USAGE })
const ASKED = { model: 'open/m', prompt: 'A fox' } as const

describe('POST /v1/images/generations, by the official SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  const stream = (model: string) => fixture.gateway.openai().images.generate({ ...ASKED, model, stream: true, partial_images: 1 })

  it('makes pictures, whose tokens count as those of images', async () => {
    fixture.upstream.reply(json({ created: 1, data: [{ b64_json: PICTURE }], usage: USAGE }))
    const { data } = await fixture.gateway.openai().images.generate(ASKED)
    expect(data![0]!.b64_json === PICTURE).to.equal(true)
  })

  it('makes pictures without a usage, which is then estimated by the prompt', async () => {
    fixture.upstream.reply(json({ created: 1, data: [{ url: 'https://pictures.example/1' }] }))
    const { response } = await fixture.gateway.openai().images.generate(ASKED).withResponse()
    const { tokens } = await fixture.row(response.headers.get('x-request-id'))
    expect(tokens).to.include({ output: 0, estimated: true })
  })

  it('streams events of megabytes unchanged, and reads their usage', async () => {
    fixture.upstream.reply(sse([PARTIAL, COMPLETED]))
    const { data, response } = await stream('open/m').withResponse()
    const events = await Array.fromAsync(data)
    expect(events.map(({ type, b64_json }) => [type, b64_json === PICTURE])).to.deep.equal([
      ['image_generation.partial_image', true],
      ['image_generation.completed', true],
    ])
    const row = await fixture.row(response.headers.get('x-request-id'))
    expect(row).to.deep.include({ endpoint: 'images.generations', stream: true, outcome: 'ok' })
    expect(row.tokens).to.include({ input: 20, output: 4160, estimated: false })
  })

  it('ends a stream of several pictures after the last one', async () => {
    fixture.upstream.reply(sse([COMPLETED, COMPLETED]))
    expect(await Array.fromAsync(await stream('open/m'))).to.have.length(2)
  })

  it('never makes a cut stream look finished', async () => {
    fixture.upstream.reply(sse([PARTIAL, FIN]))
    const failure = await Array.fromAsync(await stream('open/m')).catch((error: unknown) => error)
    expect(failure).to.include({ code: 'upstream_disconnected' })
  })

  it('fails over if a stream begins with an error', async () => {
    fixture.upstream.reply(sse([part('error', { error: { message: 'no', type: 'server_error', code: null } })]))
    fixture.upstream.reply(sse([COMPLETED]))
    expect(await Array.fromAsync(await stream('acme/m'))).to.have.length(1)
  })

  it('gets an error if a stream breaks with one', async () => {
    // If both events come in one turn, nothing is committed, and the call is tried again.
    for (let attempt = 0; attempt < 2; attempt++)
      fixture.upstream.reply(sse([PARTIAL, part('error', { error: { message: 'no', code: 'moderation_blocked' } })]))
    const failure = await Array.fromAsync(await stream('open/m')).catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'upstream_error')
  })
})

describe('POST /v1/moderations, by the official SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  it('judges texts and pictures', async () => {
    const results = [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } }]
    const sent = fixture.upstream.reply(json({ id: 'modr-1', model: 'm', results }))
    const input = [
      { type: 'text', text: 'Hit' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
    ] as const
    const judged = await fixture.gateway.openai().moderations.create({ model: 'open/m', input: [...input] })
    expect([judged.results[0]!.flagged, (await sent).json()]).to.deep.equal([true, { model: 'm', input }])
  })
})
