import { expect } from 'chai'
import { chunk, event, FIN, head, hold, json, RST, reply, type Step, sse } from '../../../core/testing/kit.ts'
import { rawHttp } from '../../support/raw-http.ts'
import { type Fixture, startFixture } from './fixture.ts'

const ASKED = { model: 'open/m', input: 'Hello', voice: 'alloy' } as const
/** Every byte, also those that are no UTF-8. */
const SOUND = Buffer.from(Array.from({ length: 256 * 1024 }, (_, index) => (index * 7) % 256))

const sound = (body: readonly Step[], type = 'audio/mpeg') =>
  reply(body, { headers: { 'content-type': type }, framing: 'chunked' })

describe('POST /v1/audio/speech, by the official SDK', () => {
  let fixture: Fixture

  before(async () => {
    // Signs of life would stand in the middle of the sound.
    fixture = await startFixture({ times: { heartbeat: 20 } })
  })

  after(() => fixture?.stop())

  /** Waits for as long as another stream takes to show two signs of life. */
  async function twoSignsOfLife(): Promise<void> {
    const silence = hold()
    fixture.upstream.reply([silence])
    const other = await rawHttp(`${fixture.gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.gateway.liveKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'open/m', prompt: 'x', stream: true }),
    })
    await other.until(/keep-alive.*keep-alive/s)
    other.leave()
  }

  const speak = (model: string = ASKED.model) => fixture.gateway.openai().audio.speech.create({ ...ASKED, model })

  for (const type of ['audio/mpeg', 'audio/wav', 'audio/pcm;rate=24000', 'application/octet-stream']) {
    it(`returns sound of the type ${type} byte for byte`, async () => {
      const sent = fixture.upstream.reply(sound([SOUND.subarray(0, 1000), SOUND.subarray(1000)], type))
      const got = await speak()
      expect([got.status, got.headers.get('content-type')]).to.deep.equal([200, type])
      expect(Buffer.from(await got.arrayBuffer()).equals(SOUND)).to.equal(true)
      const { path, headers, json: body } = await sent
      expect([path, headers.accept, body()]).to.deep.equal(['/v1/audio/speech', '*/*', { ...ASKED, model: 'm' }])
    })
  }

  it('has a row: the tokens of sound are unknown, those of the text are estimated', async () => {
    fixture.upstream.reply(sound([SOUND]))
    const got = await speak()
    await got.arrayBuffer()
    const row = await fixture.row(got.headers.get('x-request-id'))
    expect(row).to.deep.include({ endpoint: 'audio.speech', outcome: 'ok', status: 200 })
    const input = Math.ceil(JSON.stringify(ASKED).length / 4)
    expect(row.tokens).to.include({ input, output: 0, estimated: true })
  })

  it('begins before the upstream has ended, and is silent while the upstream is', async () => {
    const silence = hold()
    fixture.upstream.reply(sound([SOUND.subarray(0, 10), silence, SOUND.subarray(10, 20)]))
    const got = await speak()
    const reader = got.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>
    const first = await reader.read()
    expect(Buffer.from(first.value!).equals(SOUND.subarray(0, 10))).to.equal(true)
    await silence.reached
    await twoSignsOfLife()
    silence.release()
    const second = await reader.read()
    expect(Buffer.from(second.value!).equals(SOUND.subarray(10, 20))).to.equal(true)
    expect((await reader.read()).done).to.equal(true)
  })

  it('breaks off if its upstream does, without anything that is no sound', async () => {
    for (const end of [FIN, RST] as const) {
      fixture.upstream.reply(sound([SOUND.subarray(0, 5000), end]))
      const raw = await rawHttp(`${fixture.gateway.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization: `Bearer ${fixture.gateway.liveKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(ASKED),
      })
      const got = await raw.bytes()
      expect([raw.complete, got.equals(SOUND.subarray(0, 5000))]).to.deep.equal([false, true])
      const row = await fixture.row(String(raw.headers['x-request-id']))
      expect(row).to.deep.include({ outcome: 'upstream_error', status: 200 })
    }
  })

  for (const [what, script] of Object.entries({
    'has an error': json({ error: { message: 'no' } }, { status: 500 }),
    'has an error in a reply with status 200': json({ error: { message: 'no', code: 'rate_limit_exceeded' } }),
    'replies with JSON': json({ audio: 'AAAA' }),
    'replies with a page': sound(['<html></html>'], 'text/html'),
    'replies with nothing': sound([]),
    'breaks off before the first byte': sound([RST]),
  })) {
    it(`is served by another target if one ${what}`, async () => {
      fixture.upstream.reply(script)
      fixture.upstream.reply(sound([SOUND]))
      const got = await speak('acme/m')
      expect(Buffer.from(await got.arrayBuffer()).equals(SOUND)).to.equal(true)
    })
  }

  it('is an error with its status if no target serves it', async () => {
    fixture.upstream.reply(json({ error: { message: 'no' } }, { status: 500 }))
    const got = await fixture.gateway.fetch('/v1/audio/speech', { json: ASKED })
    const { error } = (await got.json()) as { readonly error: { readonly code: string } }
    expect([got.status, got.headers.get('content-type'), error.code]).to.deep.equal([502, 'application/json', 'upstream_error'])
  })

  it('streams events if the client asks for them, with their usage', async () => {
    const done = { type: 'speech.audio.done', usage: { input_tokens: 3, output_tokens: 40, total_tokens: 43 } }
    const events = [{ type: 'speech.audio.delta', audio: SOUND.toString('base64') }, done].map((each) => event(each))
    fixture.upstream.reply(sse(events))
    const got = await fixture.gateway.openai().audio.speech.create({ ...ASKED, stream_format: 'sse' })
    expect(got.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8')
    expect((await got.text()).replaceAll(': keep-alive\n\n', '')).to.equal(events.join(''))
    const row = await fixture.row(got.headers.get('x-request-id'))
    expect(row.tokens).to.include({ input: 3, output: 40, estimated: false })
  })

  it('aborts its upstream when the client leaves', async () => {
    const sent = fixture.upstream.reply(endless())
    const leaving = new AbortController()
    const got = await fixture.gateway.fetch('/v1/audio/speech', { json: ASKED, signal: leaving.signal })
    await got.body!.getReader().read()
    leaving.abort()
    await (await sent).closed
    const row = await fixture.row(got.headers.get('x-request-id'))
    expect(row.outcome).to.equal('client_closed')
  })
})

describe('Sound that a client does not read', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({ times: { writeStall: 50 } })
  })

  after(() => fixture?.stop())

  it('pauses its upstream, and is closed after a timeout', async () => {
    let count = 0
    const sent = fixture.upstream.reply(endless(() => count++))
    const unread = await rawHttp(`${fixture.gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.gateway.liveKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(ASKED),
    })
    await (await sent).closed
    // What the buffers of the sockets hold has left; the rest would have filled the gateway's memory.
    expect(count > 0 && count < PIECES / 2, `${count} pieces were sent`).to.equal(true)
    unread.leave()
  })
})

/** Pieces of 64 KiB, far more than the buffers of four sockets hold. */
const PIECES = 1024

function* endless(onSend: () => void = () => undefined): Generator<Step> {
  yield head(200, { 'content-type': 'audio/mpeg', 'transfer-encoding': 'chunked' })
  for (let count = 0; count < PIECES; count++) {
    onSend()
    yield chunk('x'.repeat(64 * 1024))
  }
  yield FIN
}
