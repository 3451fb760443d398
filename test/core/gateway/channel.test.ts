import { duplexPair } from 'node:stream'
import { expect } from 'chai'
import { Channel, ChannelError } from '../../../core/gateway/channel.ts'

/** The functions of the other process. */
interface Remote {
  echo(text: string): string
}

describe('a channel between two processes', () => {
  it('fails calls, and nothing else, when the other process is killed while it writes a message', async () => {
    const [near, far] = duplexPair({ allowHalfOpen: false })
    const channel = new Channel<Remote>(near, {})
    const failure = channel.call('echo', 'text').catch((error: unknown) => error)
    far.resume().end('[1,null,{"result":"te')
    expect(await failure).to.be.instanceOf(ChannelError)
    expect(channel.closed.aborted).to.equal(true)
  })

  it('passes all characters, those that end a line included', async () => {
    const [near, far] = duplexPair()
    const channel = new Channel<Remote>(near, {})
    new Channel(far, { echo: (text: string) => text })
    const text = 'a\nb\r\nc\rd\u2028e\u2029f\u0085g\0h€😀'
    expect(await channel.call('echo', text)).to.equal(text)
  })
})
