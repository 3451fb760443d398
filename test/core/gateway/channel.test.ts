import { duplexPair } from 'node:stream'
import { expect } from 'chai'
import { Channel, ChannelError, EncodingError } from '../../../core/gateway/channel.ts'

/** The functions of the other process. */
interface Remote {
  echo(text: string): string
}

describe('a channel between two processes', () => {
  it('fails calls, and nothing else, when the other process is killed while it writes a message', async () => {
    const [near, far] = duplexPair({ allowHalfOpen: false })
    const channel = new Channel<Remote, object>(near, {})
    const failure = channel.call('echo', 'text').catch((error: unknown) => error)
    far.resume().end('[1,null,{"result":"te')
    expect(await failure).to.be.instanceOf(ChannelError)
    expect(channel.closed.aborted).to.equal(true)
  })

  it('passes all characters, those that end a line included', async () => {
    const [near, far] = duplexPair()
    const channel = new Channel<Remote, object>(near, {})
    new Channel<object, Remote>(far, { echo: (text: string) => text })
    const text = 'a\nb\r\nc\rd\u2028e\u2029f\u0085g\0h€😀'
    expect(await channel.call('echo', text)).to.equal(text)
  })

  for (const line of ['{"half', 'null', '[]', '[1]', '{}', '"text"', '[1,null,null]', '[1,7,[]]', '[1,"echo","no list"]'])
    it(`closes, and does not end the process, when it reads ${line}`, async () => {
      const [near, far] = duplexPair({ allowHalfOpen: false })
      const channel = new Channel<Remote, object>(near, {})
      const failure = channel.call('echo', 'text').catch((error: unknown) => error)
      far.resume().write(`${line}\n`)
      expect(await failure).to.be.instanceOf(ChannelError)
      expect(channel.closed.aborted).to.equal(true)
    })

  it('sends nothing of a call whose arguments are not JSON, and says so; nor of such an answer', async () => {
    const [near, far] = duplexPair()
    const channel = new Channel<Remote, object>(near, {})
    new Channel<object, Remote>(far, { echo: (text: string) => (text === 'odd' ? (1n as never) : text) })
    expect(await channel.call('echo', 1n as never).catch((error: unknown) => error)).to.be.instanceOf(EncodingError)
    expect(await channel.call('echo', 'odd').catch((error: unknown) => error)).to.be.instanceOf(ChannelError)
    expect(await channel.call('echo', 'text')).to.equal('text')
  })

  it('leaves an answer that nobody waits for', async () => {
    const [near, far] = duplexPair()
    const channel = new Channel<Remote, object>(near, {})
    const answered = channel.call('echo', 'text')
    far.resume().write('[99,null,{"result":"lost"}]\n[1,null,{"result":"text"}]\n')
    expect(await answered).to.equal('text')
  })
})
