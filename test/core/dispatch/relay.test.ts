import { once } from 'node:events'
import { expect } from 'chai'
import { Relay } from '../../../core/dispatch/relay.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { PausableSource } from '../../../core/upstream/readers/stream-sink.ts'
import { FakeClient } from '../upstream/fake-client.ts'

const PING = ': keep-alive\n\n'
const SOON = 5
const NEVER = 3_600_000

/** A source that counts. */
class FakeSource implements PausableSource {
  readonly told: string[] = []

  pause(): void {
    this.told.push('pause')
  }

  resume(): void {
    this.told.push('resume')
  }
}

describe('the relay of a stream', () => {
  const open: Relay[] = []
  afterEach(() => {
    for (const relay of open.splice(0)) relay.close()
  })

  function start({ heartbeat = NEVER } = {}) {
    const client = new FakeClient()
    const source = new FakeSource()
    const relay = new Relay(heartbeat)
    open.push(relay)
    relay.attach(source, 'utf8')
    return { relay, client, source, head: relay.headDue }
  }

  /** Pushes one event as one piece, and commits to it. */
  function say(relay: Relay, frame: string, meaningful = true): void {
    relay.push(frame, meaningful)
    relay.flush()
    if (relay.begun) relay.commit()
  }

  for (const [how, end] of [
    ['is finished', (relay: Relay) => relay.finish()],
    ['fails', (relay: Relay) => relay.fail(new GatewayError('upstream_error'))],
    ['is closed', (relay: Relay) => relay.close()],
  ] as const)
    it(`listens to its response no longer when it ${how}`, () => {
      const { relay, client } = start()
      relay.open(client.response)
      say(relay, 'data: 1\n\n')
      expect(client.response.listenerCount('drain')).to.equal(1)
      end(relay)
      expect(client.response.listenerCount('drain')).to.equal(0)
    })

  it('holds events until one carries content', () => {
    const { relay, client } = start()
    say(relay, 'role', false)
    expect([relay.firstByteAt, relay.begun]).to.deep.equal([undefined, false])
    say(relay, 'words')
    expect([typeof relay.firstByteAt, relay.begun]).to.deep.equal(['number', true])
    expect(client.writes).to.deep.equal([])
    relay.open(client.response)
    expect(client.text).to.equal('rolewords')
  })

  for (const isOpen of [false, true]) {
    it(`drops the events of a source that committed none${isOpen ? ', after a heartbeat' : ''}`, () => {
      const { relay, client } = start()
      if (isOpen) relay.open(client.response)
      relay.push('x'.repeat(70_000), true)
      relay.flush()
      expect([relay.firstByteAt, relay.begun]).to.deep.equal([undefined, true])
      relay.attach(new FakeSource(), 'utf8')
      expect(relay.begun).to.equal(false)
      say(relay, 'b')
      if (!isOpen) relay.open(client.response)
      expect(client.text).to.equal(isOpen ? `${PING}b` : 'b')
    })
  }

  it('writes the events of one turn together once it is open', () => {
    const { relay, client } = start()
    say(relay, 'a')
    relay.open(client.response)
    relay.push('b', true)
    relay.push('c', true)
    expect(client.writes).to.deep.equal(['a'])
    relay.flush()
    relay.flush()
    say(relay, 'd')
    expect(client.writes).to.deep.equal(['a', 'bc', 'd'])
  })

  it('writes all of a stream that ended before it was opened', () => {
    const { relay, client } = start()
    say(relay, 'a', false)
    relay.end('done')
    relay.finish()
    relay.open(client.response)
    expect(relay.firstByteAt).to.be.a('number')
    expect(client).to.include({ text: 'adone', ending: 'ended' })
  })

  it('ends once, and not before its end is recorded, if it is opened in between', () => {
    const { relay, client } = start()
    say(relay, 'a')
    relay.end('done')
    relay.open(client.response)
    expect(client).to.include({ text: '', ending: 'open' })
    relay.finish()
    expect(client).to.include({ text: 'adone', ending: 'ended' })
  })

  it('opens with a heartbeat if it holds for long, and repeats it', async () => {
    const { relay, client, head } = start({ heartbeat: SOON })
    say(relay, 'role', false)
    await head
    relay.open(client.response)
    expect(client.writes).to.deep.equal([PING])
    while (client.writes.length < 4) await once(client, 'written')
    expect(client.text).to.equal(PING.repeat(4))
    say(relay, 'words')
    expect(client.text.replaceAll(PING, '')).to.equal('rolewords')
    expect(relay.firstByteAt).to.be.a('number')
  })

  it('writes heartbeats in later pauses, but none to a client that does not read', async () => {
    const { relay, client } = start({ heartbeat: SOON })
    say(relay, 'a')
    relay.open(client.response)
    await once(client, 'written')
    expect(client.text).to.equal(`a${PING}`)
    client.full = true
    say(relay, 'b')
    await heartbeats(3)
    expect(client.writes.at(-1)).to.equal('b')
  })

  it('ends a failed stream with one error frame and a broken connection, and writes nothing after', async () => {
    const { relay, client } = start({ heartbeat: SOON })
    say(relay, 'a')
    relay.open(client.response)
    relay.push('b', true)
    const error = new GatewayError('upstream_disconnected')
    relay.fail(error)
    say(relay, 'c')
    relay.fail(new GatewayError('upstream_timeout'))
    await heartbeats(3)
    expect(client).to.include({ text: `abdata: ${JSON.stringify(error)}\n\n`, ending: 'broken' })
    expect(relay.ended).to.equal(true)
  })

  for (const when of ['before', 'after'] as const)
    it(`ends with an error frame in place of its end marker if the call fails before the end is recorded: opened ${when} the end`, async () => {
      const { relay, client } = start({ heartbeat: SOON })
      say(relay, 'a')
      if (when === 'before') relay.open(client.response)
      relay.push('b', true)
      relay.end('done')
      if (when === 'after') relay.open(client.response)
      const error = new GatewayError('internal_error')
      relay.fail(error)
      relay.finish()
      await heartbeats(3)
      expect(client).to.include({ text: `abdata: ${JSON.stringify(error)}\n\n`, ending: 'broken' })
    })

  it('pauses the upstream while the client does not read', () => {
    const { relay, client, source } = start()
    say(relay, 'a')
    relay.open(client.response)
    client.full = true
    say(relay, 'b')
    say(relay, 'c')
    expect(source.told).to.deep.equal(['pause'])
    client.drain()
    expect(source.told).to.deep.equal(['pause', 'resume'])
    say(relay, 'd')
    expect(client.text).to.equal('abcd')
    expect(source.told).to.have.length(2)
  })

  it('pauses the upstream when it holds 64 KiB', () => {
    const { relay, client, source } = start()
    say(relay, 'x'.repeat(60_000), false)
    expect(source.told).to.deep.equal([])
    say(relay, 'x'.repeat(60_000), false)
    expect(source.told).to.deep.equal(['pause'])
    say(relay, 'words')
    relay.open(client.response)
    expect(source.told).to.deep.equal(['pause', 'resume'])
  })

  it('is not read while the client has not read its first events', () => {
    const { relay, client, source } = start()
    client.full = true
    say(relay, 'x'.repeat(70_000))
    relay.open(client.response)
    expect(source.told).to.deep.equal(['pause'])
    client.drain()
    expect(source.told).to.deep.equal(['pause', 'resume'])
  })

  it('drops the held events of a source that is replaced', () => {
    const { relay, client, source } = start()
    say(relay, 'x'.repeat(70_000), false)
    expect(source.told).to.deep.equal(['pause'])
    const second = new FakeSource()
    relay.attach(second, 'utf8')
    say(relay, 'b')
    relay.open(client.response)
    client.full = true
    say(relay, 'c')
    expect(client.text).to.equal('bc')
    expect(second.told).to.deep.equal(['pause'])
  })

  it('writes raw bytes unchanged', () => {
    const { relay, client, source } = start()
    relay.attach(source, 'latin1')
    say(relay, Buffer.from('Grüß dich 🌍').toString('latin1'))
    relay.open(client.response)
    relay.end(Buffer.from('§').toString('latin1'))
    relay.finish()
    expect(client.text).to.equal('Grüß dich 🌍§')
  })

  it('does nothing after it is closed', async () => {
    const { relay, client } = start({ heartbeat: SOON })
    say(relay, 'a')
    relay.open(client.response)
    client.full = true
    say(relay, 'b')
    relay.close()
    await heartbeats(3)
    relay.end('done')
    relay.finish()
    relay.fail(new GatewayError('upstream_timeout'))
    expect(client).to.include({ text: 'ab', ending: 'open' })
  })

  /** Passes as much time as a silent stream takes for so many heartbeats. */
  async function heartbeats(count: number): Promise<void> {
    const clock = start({ heartbeat: SOON })
    await clock.head
    clock.relay.open(clock.client.response)
    while (clock.client.writes.length < count) await once(clock.client, 'written')
  }
})
