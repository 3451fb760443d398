// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type OpenAI from 'openai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'
import { failure, reply } from './generate-content.ts'

const PICTURE = Buffer.from('a picture of a fox').toString('base64')
const IMAGE = { inlineData: { mimeType: 'image/png', data: PICTURE } }
const USAGE = {
  promptTokenCount: 12,
  candidatesTokenCount: 1290,
  totalTokenCount: 1302,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
}
const made = () => json(reply([{ text: 'Here it is.' }, IMAGE], { usage: USAGE }).whole)
const MODEL = 'gemini/gemini-2.5-flash-image'
const ASKED = { model: MODEL, prompt: 'A fox' }
const file = (bytes: string | Uint8Array<ArrayBuffer>, name = 'fox.png') => new File([bytes], name, { type: 'image/png' })

describe('gemini: pictures', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream
  let sdk: OpenAI

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      env: { KEY: 'google-key' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          gemini: { provider: 'gemini', breaker: false, config: { apiKey: '${env:KEY}', baseUrl: upstream.origin } },
        },
        prices: { models: { 'gemini/*': { input: 1, output: 2, outputImage: 30 } } },
      },
    })
    sdk = gateway.openai().withOptions({ maxRetries: 0 })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  /** What the upstream gets for a request. */
  async function sent(more: object) {
    const asked = upstream.reply(made())
    const got = await gateway.fetch('/v1/images/generations', { json: { ...ASKED, ...more } })
    expect(got.status, await got.text()).to.equal(200)
    return { body: (await asked).json() as { generationConfig: object }, headers: got.headers }
  }

  /** The error of a call that reaches no upstream. */
  async function refusal(call: () => PromiseLike<unknown>) {
    const before = upstream.requests.length
    const error = await call().then(
      () => expect.fail('it was answered'),
      (thrown: unknown) => thrown,
    )
    expect(upstream.requests).to.have.length(before)
    return error
  }

  it('are made by generateContent, with their tokens and cost', async () => {
    const asked = upstream.reply(made())
    const { data, response } = await sdk.images.generate({ ...ASKED, size: '1536x1024' }).withResponse()
    expect(data.data).to.deep.equal([{ b64_json: PICTURE }])
    expect(data.usage).to.deep.include({ input_tokens: 12, output_tokens: 1290, total_tokens: 1302 })
    expect(data.output_format).to.equal('png')
    const { path, headers, json: body } = await asked
    expect([path, headers['x-goog-api-key']]).to.deep.equal([
      '/v1beta/models/gemini-2.5-flash-image:generateContent',
      'google-key',
    ])
    expect(body()).to.deep.equal({
      contents: [{ role: 'user', parts: [{ text: 'A fox' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    })
    const line = await gateway.logged(({ id }) => id === response.headers.get('x-request-id'))
    expect(line).to.deep.include({ estimated: false, costUsd: (12 + 1290 * 30) / 1e6 })
  })

  for (const [size, config] of [
    ['auto', undefined],
    ['1024x1024', { aspectRatio: '1:1' }],
    ['1024x1792', { aspectRatio: '9:16' }],
    ['2048x2048', { aspectRatio: '1:1', imageSize: '2K' }],
    ['4096x2304', { aspectRatio: '16:9', imageSize: '4K' }],
  ] as const) {
    it(`have the nearest ratio to ${size}`, async () => {
      const { body } = await sent({ size })
      expect(body.generationConfig).to.deep.equal({ responseModalities: ['IMAGE'], ...(config && { imageConfig: config }) })
    })
  }

  it('name what Gemini does not take', async () => {
    const { headers } = await sent({ quality: 'high', output_format: 'webp', user: 'ada', response_format: 'b64_json', n: 1 })
    expect(headers.get('x-umg-params-dropped')).to.equal('quality, output_format, user')
  })

  for (const [what, more, param] of [
    ['several pictures', { n: 2 }, 'n'],
    ['an address', { response_format: 'url' as const }, 'response_format'],
    ['a stream', { stream: true as const }, 'stream'],
    ['an unknown size', { size: 'large' as never }, 'size'],
    ['another model', { model: 'gemini/gemini-2.5-flash' }, 'model'],
  ] as const) {
    it(`are refused with ${what}, by name`, async () => {
      expect(await refusal(() => sdk.images.generate({ ...ASKED, ...more }))).to.include({ status: 400, param })
    })
  }

  for (const [what, blocked] of [
    ['the picture', reply([], { finishReason: 'IMAGE_SAFETY' }).whole],
    ['the prompt', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }],
  ] as const) {
    it(`have OpenAI's code if a filter stops ${what}`, async () => {
      upstream.reply(json(blocked))
      const error = await sdk.images.generate(ASKED).then(undefined, (thrown: unknown) => thrown)
      expect(error).to.include({ status: 400, code: 'moderation_blocked', param: 'prompt' })
    })
  }

  it("have Google's errors, and an error for a reply without a picture", async () => {
    const { status, body } = failure(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded')
    upstream.reply(json(body, { status }))
    expect(await sdk.images.generate(ASKED).then(undefined, (thrown: unknown) => thrown)).to.include({ status: 429 })
    upstream.reply(json(reply([{ text: 'I would rather not.' }]).whole))
    expect(await sdk.images.generate(ASKED).then(undefined, (thrown: unknown) => thrown)).to.include({ status: 502 })
  })

  it('are changed: the files of a form, in their order', async () => {
    const asked = upstream.reply(made())
    const { data } = await sdk.images.edit({ ...ASKED, image: [file('one'), file('two')] })
    expect(data![0]!.b64_json).to.equal(PICTURE)
    const { headers, json: body } = await asked
    expect(headers['content-type']).to.equal('application/json')
    const inline = (text: string) => ({ inlineData: { mimeType: 'image/png', data: Buffer.from(text).toString('base64') } })
    expect((body() as { contents: unknown }).contents).to.deep.equal([
      { role: 'user', parts: [inline('one'), inline('two'), { text: 'A fox' }] },
    ])
  })

  it('are changed: data URLs of JSON', async () => {
    const asked = upstream.reply(made())
    const images = [{ image_url: `data:image/png;base64,${PICTURE}` }]
    await gateway.fetch('/v1/images/edits', { json: { ...ASKED, images } })
    const { contents } = (await asked).json() as { contents: unknown }
    expect(contents).to.deep.equal([{ role: 'user', parts: [IMAGE, { text: 'A fox' }] }])
  })

  it('are not changed by a mask, by stored files, or beyond 8 MiB', async () => {
    const image = file('one')
    expect(await refusal(() => sdk.images.edit({ ...ASKED, image, mask: file('m') }))).to.include({ param: 'mask' })
    const large = file(new Uint8Array((8 << 20) + 1))
    expect(await refusal(() => sdk.images.edit({ ...ASKED, image: large }))).to.include({ status: 400, param: 'image' })
    const stored = { ...ASKED, images: [{ file_id: 'file-1' }] }
    const got = await gateway.fetch('/v1/images/edits', { json: stored })
    const { error } = (await got.json()) as { error: object }
    expect(error).to.include({ code: 'unsupported_parameter', param: 'images[0].file_id' })
  })
})
