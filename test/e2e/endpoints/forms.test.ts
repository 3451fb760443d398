import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { toFile } from 'openai'
import { DONE, event, FIN, hold, json, type ReceivedRequest, RST, reply, sse } from '../../../core/testing/kit.ts'
import { poll } from '../../support/poll.ts'
import { rawConnection } from '../../support/raw-connection.ts'
import { type Fixture, startFixture } from './fixture.ts'

/** Every byte, longer than any buffer of a stream. */
const SOUND = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256))
const WRITTEN = {
  text: 'Grüße',
  usage: {
    type: 'tokens',
    input_tokens: 30,
    output_tokens: 4,
    total_tokens: 34,
    input_token_details: { text_tokens: 0, audio_tokens: 30 },
  },
}
const TRANSCRIPTIONS = '/v1/audio/transcriptions'

/** The parts of a form, in order. A file is its name and bytes. */
async function formOf({ headers, body }: ReceivedRequest): Promise<[string, string | [string, string, Buffer]][]> {
  const form = await new Response(body, { headers: { 'content-type': headers['content-type']! } }).formData()
  return Promise.all(
    [...form].map(async ([name, value]): Promise<[string, string | [string, string, Buffer]]> => {
      if (typeof value === 'string') return [name, value]
      return [name, [value.name, value.type, Buffer.from(await value.arrayBuffer())]]
    }),
  )
}

describe('A form', () => {
  let fixture: Fixture
  let folder: string

  before(async () => {
    fixture = await startFixture({
      chain: [{ plugin: 'rate-tagging', config: { classes: { standard: { tokens: '1M/h' } }, default: 'standard' } }],
      admission: { uploads: 16 << 20 },
    })
    folder = join(fixture.gateway.folder, 'uploads')
  })

  after(() => fixture?.stop())

  const file = (name = 'grüße.mp3') => toFile(SOUND, name, { type: 'audio/mpeg' })

  /** Sends a form of these parts, in this order. */
  async function post(parts: readonly (readonly [string, string | Blob])[], path = TRANSCRIPTIONS, key?: string) {
    const form = new FormData()
    for (const [name, value] of parts) form.append(name, value)
    return fixture.gateway.fetch(path, { method: 'POST', body: form, ...(key !== undefined && { key }) })
  }

  /** Sends these bytes as a form with the boundary `x`. */
  const postRaw = (body: string, type = 'multipart/form-data; boundary=x') =>
    fixture.gateway.fetch(TRANSCRIPTIONS, { method: 'POST', body, headers: { 'content-type': type } })

  const codeOf = async (got: Response): Promise<readonly unknown[]> => {
    const { error } = (await got.json()) as { readonly error: { readonly code: string; readonly param: string | null } }
    return [got.status, error.code, error.param]
  }

  it('reaches the upstream with the upstream name of its model, wherever the model stands', async () => {
    const recording = new File([SOUND], 'grüße "1".mp3', { type: 'audio/mpeg' })
    const sound = ['file', recording] as const
    const model = ['model', 'open/whisper'] as const
    const language = ['timestamp_granularities[]', 'word'] as const
    for (const parts of [
      [model, sound, language],
      [sound, model, language],
      [sound, language, model],
    ]) {
      const sent = fixture.upstream.reply(json(WRITTEN))
      const got = await post(parts)
      expect([got.status, await got.json()]).to.deep.equal([200, WRITTEN])
      const request = await sent
      expect([request.path, request.headers['content-length']]).to.deep.equal([TRANSCRIPTIONS, String(request.body.length)])
      const wanted = parts.map(([name, value]) => {
        if (name === 'model') return ['model', 'whisper']
        return [name, value === recording ? ['grüße "1".mp3', 'audio/mpeg', SOUND] : value]
      })
      expect(await formOf(request)).to.deep.equal(wanted)
    }
  })

  it('can be sent by the official SDK, to all endpoints that take one', async () => {
    const client = fixture.gateway.openai()
    fixture.upstream.reply(json(WRITTEN))
    const { text } = await client.audio.transcriptions.create({ file: await file(), model: 'open/m', language: 'de' })
    fixture.upstream.reply(json({ text: 'Greetings' }))
    const translated = await client.audio.translations.create({ file: await file(), model: 'open/m' })
    const sent = fixture.upstream.reply(json({ created: 1, data: [{ b64_json: 'Zm94' }] }))
    const image = [await toFile(SOUND, 'a.png', { type: 'image/png' }), await toFile(SOUND, 'b.png', { type: 'image/png' })]
    const edited = await client.images.edit({ model: 'open/m', image, prompt: 'A fox', n: 2 })
    expect([text, translated.text, edited.data![0]!.b64_json]).to.deep.equal(['Grüße', 'Greetings', 'Zm94'])
    const names = (await formOf(await sent)).map(([name]) => name)
    expect(names).to.have.members(['model', 'image[]', 'image[]', 'prompt', 'n'])
  })

  it('has a row with the tokens that the upstream reports', async () => {
    fixture.upstream.reply(json(WRITTEN))
    const client = fixture.gateway.openai()
    const { response } = await client.audio.transcriptions.create({ file: await file(), model: 'open/m' }).withResponse()
    const row = await fixture.row(response.headers.get('x-request-id'))
    expect(row).to.deep.include({ endpoint: 'audio.transcriptions', model: 'open/m', outcome: 'ok', stream: false })
    expect(row.tokens).to.include({ input: 30, output: 4, estimated: false })
    expect(row.cost).to.include({ usd: '0.000038' })
  })

  it('does not count its files as tokens if the upstream reports none', async () => {
    const key = await fixture.gateway.key({ name: 'limited' })
    fixture.upstream.reply(json({ text: 'Hi', usage: { type: 'duration', seconds: 3 } }))
    const got = await post(
      [
        ['file', new File([SOUND], 'a.mp3')],
        ['model', 'open/m'],
      ],
      TRANSCRIPTIONS,
      key,
    )
    const { tokens } = await fixture.row(got.headers.get('x-request-id'))
    expect(tokens).to.include({ estimated: true })
    expect(tokens!.input! + tokens!.output!).to.be.below(50)
    expect(Number(got.headers.get('x-ratelimit-remaining-tokens'))).to.be.above(990_000)
  })

  for (const [format, type, text] of [
    ['srt', 'application/x-subrip', '1\n00:00:00,000 --> 00:00:01,000\nGrüße\n'],
    ['vtt', 'text/vtt; charset=utf-8', 'WEBVTT\n\nGrüße\n'],
    ['text', 'text/plain; charset=utf-8', 'Grüße\n'],
  ] as const) {
    it(`can ask for a transcript as ${format}`, async () => {
      fixture.upstream.reply(reply([text], { headers: { 'content-type': type } }))
      const got = await post([
        ['file', new File([SOUND], 'a.mp3')],
        ['model', 'open/m'],
        ['response_format', format],
      ])
      expect([got.status, got.headers.get('content-type'), await got.text()]).to.deep.equal([200, type, text])
    })
  }

  it('can ask for a stream of events', async () => {
    const events = [
      event({ type: 'transcript.text.delta', delta: 'Grü' }),
      event({ type: 'transcript.text.delta', delta: 'ße' }),
      event({ type: 'transcript.text.done', ...WRITTEN }),
    ]
    fixture.upstream.reply(sse(events))
    const client = fixture.gateway.openai()
    const stream = await client.audio.transcriptions.create({ file: await file(), model: 'open/m', stream: true })
    expect((await Array.fromAsync(stream)).map(({ type }) => type)).to.deep.equal([
      'transcript.text.delta',
      'transcript.text.delta',
      'transcript.text.done',
    ])
    fixture.upstream.reply(sse([events[0]!, FIN]))
    const cut = await client.audio.transcriptions.create({ file: await file(), model: 'open/m', stream: true })
    expect(await Array.fromAsync(cut).catch((error: unknown) => error)).to.include({ code: 'upstream_disconnected' })
  })

  it('can ask for a stream of vLLM, whose events have no type', async () => {
    const chunks = ['Grü', 'ße'].map((content) =>
      event({ id: 'trsc-1', object: 'transcription.chunk', choices: [{ delta: { content } }] }),
    )
    const finish = event({
      id: 'trsc-1',
      object: 'transcription.chunk',
      choices: [{ delta: { content: '' }, finish_reason: 'stop' }],
    })
    fixture.upstream.reply(sse([...chunks, finish, DONE]))
    const got = await post([
      ['file', new File([SOUND], 'a.mp3')],
      ['model', 'open/m'],
      ['stream', 'true'],
    ])
    expect([got.status, (await got.text()).startsWith(chunks.join(''))]).to.deep.equal([200, true])
  })

  for (const [what, script] of Object.entries({
    'has an error': json({ error: { message: 'no' } }, { status: 500 }),
    'limits the rate': json({ error: { message: 'no' } }, { status: 429 }),
    'resets the connection': [RST] as const,
    'replies before it has read the form': json({ error: { message: 'no' } }, { status: 503 }),
  })) {
    it(`is sent whole to another target if one ${what}`, async () => {
      const first = fixture.upstream.reply(script)
      const second = fixture.upstream.reply(json(WRITTEN))
      const got = await post([
        ['file', new File([SOUND], 'a.mp3', { type: 'audio/mpeg' })],
        ['model', 'acme/m'],
      ])
      expect([got.status, await got.json()]).to.deep.equal([200, WRITTEN])
      await first
      expect(await formOf(await second)).to.deep.equal([
        ['file', ['a.mp3', 'audio/mpeg', SOUND]],
        ['model', 'm'],
      ])
    })
  }

  const TEXT = '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nopen/m\r\n'
  const FILE = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nabc\r\n'
  const part = (head: string, value = 'open/other') => `--x\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`

  for (const [what, body, wanted] of [
    ['no model', FILE, [400, 'missing_required_parameter', 'model']],
    ['two models', TEXT + FILE + part('name="model"'), [400, 'duplicate_parameter', 'model']],
    ['a model in capitals', TEXT + FILE + part('name="MODEL"'), [400, 'unknown_parameter', 'MODEL']],
    ['a list of models', TEXT + FILE + part('name="model[]"'), [400, 'unknown_parameter', 'model[]']],
    ['a model with a member', TEXT + FILE + part('name="model[0]"'), [400, 'unknown_parameter', 'model[0]']],
    ['a file as its model', FILE + part('name="model"; filename="m"'), [400, 'invalid_type', 'model']],
    ['a model and a file of that name', TEXT + part('name="model"; filename="m"'), [400, 'invalid_type', 'model']],
    ['an unknown model', FILE + part('name="model"', 'nope/m'), [404, 'model_not_found', 'model']],
    ['a stream that is no boolean', TEXT + FILE + part('name="stream"', 'maybe'), [400, 'invalid_type', 'stream']],
    [
      'a part whose name ends with a backslash, which may begin another name',
      TEXT + FILE + part('name="x\\\\"; filename="; name=model; q="'),
      [400, 'invalid_value', null],
    ],
    ['a part without a name', TEXT + FILE + part('x="y"'), [400, 'invalid_value', null]],
    [
      'an encoded part',
      TEXT + FILE.replace('\r\n\r\n', '\r\ncontent-transfer-encoding: base64\r\n\r\n'),
      [400, 'invalid_value', null],
    ],
    ['too many parts', TEXT + part('name="a[]"').repeat(300), [400, 'invalid_value', null]],
    ['a text of two megabytes', TEXT + part('name="prompt"', 'x'.repeat(2 << 20)), [400, 'invalid_value', null]],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      const asked = fixture.upstream.requests.length
      expect(await codeOf(await postRaw(`${body}--x--\r\n`))).to.deep.equal(wanted)
      expect(fixture.upstream.requests).to.have.length(asked)
    })
  }

  it('is refused if it has no end, no boundary, or another type', async () => {
    for (const body of [TEXT + FILE, `${TEXT}${FILE.slice(0, -4)}`, TEXT, '', 'hello'])
      expect(await codeOf(await postRaw(body)), body).to.deep.equal([400, 'invalid_value', null])
    expect(await codeOf(await postRaw(TEXT, 'multipart/form-data'))).to.deep.equal([415, 'unsupported_media_type', null])
    expect(await codeOf(await postRaw(TEXT, 'multipart/form-data; a=b'))).to.deep.equal([400, 'invalid_value', null])
    expect(await codeOf(await postRaw('{}', 'application/json'))).to.deep.equal([415, 'unsupported_media_type', null])
    const chat = await post([['model', 'open/m']], '/v1/chat/completions')
    expect(await codeOf(chat)).to.deep.equal([415, 'unsupported_media_type', null])
  })

  it('is refused if it is too large, whether its length is known or not', async () => {
    const large = Buffer.alloc((4 << 20) + 1)
    expect(
      (
        await post([
          ['file', new File([large], 'a')],
          ['model', 'open/m'],
        ])
      ).status,
    ).to.equal(413)
    async function* chunks() {
      yield Buffer.from(`${TEXT}${FILE.slice(0, -2)}`)
      yield large
    }
    const streamed = await fixture.gateway.fetch(TRANSCRIPTIONS, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: chunks() as never,
      duplex: 'half',
    } as never)
    expect(streamed.status).to.equal(413)
  })

  it('leaves nothing behind: not when it was served, nor refused, nor aborted by its client', async () => {
    const { port } = new URL(fixture.gateway.url)
    const connection = await rawConnection(fixture.gateway.url)
    const head = `POST ${TRANSCRIPTIONS} HTTP/1.1\r\nhost: x:${port}\r\nauthorization: Bearer ${fixture.gateway.liveKey}\r\n`
    connection.write(
      Buffer.from(
        `${head}content-type: multipart/form-data; boundary=x\r\ncontent-length: 500000\r\n\r\n${TEXT}${FILE.slice(0, -2)}`,
      ),
    )
    connection.write(SOUND.subarray(0, 200_000))
    connection.socket.destroy()
    const line = await fixture.gateway.logged(({ status, endpoint }) => status === 499 && endpoint === 'audio.transcriptions')
    expect(line.outcome).to.equal('client_closed')
    // A file loses its name as soon as it is created.
    await poll(
      () => readdir(folder),
      (names) => names.length === 0,
    )
    // Its room is free again: a key may hold half of it.
    for (let count = 0; count < 5; count++) {
      fixture.upstream.reply(json(WRITTEN))
      expect(
        (
          await post([
            ['file', new File([Buffer.alloc(3 << 20)], 'a')],
            ['model', 'open/m'],
          ])
        ).status,
      ).to.equal(200)
    }
  })

  it('aborts its upstream when the client leaves', async () => {
    const waiting = hold()
    const sent = fixture.upstream.reply([waiting])
    const leaving = new AbortController()
    const form = new FormData()
    form.append('file', new File([SOUND], 'a.mp3'))
    form.append('model', 'open/m')
    const asking = fixture.gateway
      .fetch(TRANSCRIPTIONS, { method: 'POST', body: form, signal: leaving.signal })
      .catch((error: unknown) => error)
    const { closed } = await sent
    leaving.abort()
    await closed
    await asking
  })
})
