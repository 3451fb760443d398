import { expect } from 'chai'
import type { LocalReply } from '../../../core/sdk/api.ts'
import type { Receiver, Sending } from '../../../core/upstream/client.ts'
import { sendLocal } from '../../../core/upstream/local-reply.ts'

/** Hears what a network would tell, and does something at one of its words. */
class Hearer implements Receiver {
  readonly isCommitted = false
  readonly heard: string[] = []
  readonly over = Promise.withResolvers<void>()
  sending: Sending | undefined
  onWord: (word: string) => void = () => undefined

  onSent(): void {
    this.#hear('sent')
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#hear(`head ${status} ${JSON.stringify(headers)}`)
  }

  onData(bytes: Buffer): void {
    this.#hear(`data ${bytes}`)
  }

  onEnd(): void {
    this.#hear('end')
    this.over.resolve()
  }

  onError(error: NodeJS.ErrnoException, stale: boolean): void {
    this.#hear(`error ${error.code} ${stale}`)
    this.over.resolve()
  }

  #hear(word: string): void {
    this.heard.push(word)
    this.onWord(word)
  }
}

/** A body of three pieces that tells when it is let go. */
function pieces(end: () => void): LocalReply['body'] {
  return (async function* () {
    try {
      yield 'one'
      yield Buffer.from('two')
      yield 'drei ✓'
    } finally {
      end()
    }
  })()
}

describe('a reply that a provider creates', () => {
  let hearer: Hearer
  beforeEach(() => {
    hearer = new Hearer()
  })

  it('is received like one of the network, and not synchronously', async () => {
    sendLocal({ status: 200, headers: { 'content-type': 'text/plain' }, body: pieces(() => undefined) }, hearer)
    expect(hearer.heard).to.deep.equal([])
    await hearer.over.promise
    expect(hearer.heard).to.deep.equal([
      'sent',
      'head 200 {"content-type":"text/plain"}',
      'data one',
      'data two',
      'data drei ✓',
      'end',
    ])
  })

  it('that throws is received as a broken connection', async () => {
    const body = (function* () {
      yield 'one'
      throw new Error('canary')
    })()
    sendLocal({ status: 200, body }, hearer)
    await hearer.over.promise
    expect(hearer.heard).to.deep.equal(['sent', 'head 200 {}', 'data one', 'error ECONNRESET false'])
  })

  it('waits while it is paused', async () => {
    const released = Promise.withResolvers<void>()
    hearer.onWord = (word) => {
      if (word !== 'data one') return
      sending.pause()
      released.resolve()
    }
    const sending = sendLocal({ status: 200, body: ['one', 'two'] }, hearer)
    await released.promise
    await turns()
    expect(hearer.heard.at(-1)).to.equal('data one')
    sending.resume()
    await hearer.over.promise
    expect(hearer.heard.slice(-2)).to.deep.equal(['data two', 'end'])
  })

  for (const [when, last] of [
    ['before it begins', undefined],
    ['after its head', 'head 200 {}'],
    ['in its middle', 'data one'],
  ] as const) {
    it(`that is aborted ${when} sends nothing more, and closes its body`, async () => {
      const ended = Promise.withResolvers<void>()
      hearer.onWord = (word) => {
        if (word === last) sending.abort()
      }
      const sending = sendLocal({ status: 200, body: pieces(ended.resolve) }, hearer)
      if (last === undefined) sending.abort()
      else await ended.promise
      await turns()
      expect(hearer.heard.at(-1)).to.equal(last)
    })
  }

  it('that is aborted while it is paused closes its body', async () => {
    const ended = Promise.withResolvers<void>()
    hearer.onWord = (word) => {
      if (word !== 'data one') return
      sending.pause()
      setImmediate(() => sending.abort())
    }
    const sending = sendLocal({ status: 200, body: pieces(ended.resolve) }, hearer)
    await ended.promise
    expect(hearer.heard.at(-1)).to.equal('data one')
  })
})

/** As many turns of the event loop as any of these replies could need to go on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}
