import { expect } from 'chai'
import { chunk, type Provider, type Translator, UpstreamError } from 'unified-model-gateway/plugin'
import { cutAtEveryByte, gather, openaiReply, runTranslator, splitAtEveryByte } from 'unified-model-gateway/plugin/testing'

/** Says what it reads: `{"say": "…"}`, `{"call": "…"}`, `{"fault": 503}`, `{"end": true}`. */
interface Line {
  readonly say?: string
  readonly call?: string
  readonly fault?: number
  readonly end?: true
}

function translator(): Translator {
  let calls = 0
  return {
    completion(body) {
      const { say = '', fault } = body as Line
      if (fault !== undefined) throw new UpstreamError({ status: fault })
      return { choices: [{ message: { content: say }, finish_reason: 'done' }] }
    },
    *event({ data }) {
      const { say, call, fault, end }: Line = JSON.parse(data)
      if (fault !== undefined) throw new UpstreamError({ status: fault })
      if (say !== undefined) yield chunk.content(say)
      if (call !== undefined) yield chunk.toolCall({ index: calls++, id: `${Math.random()}`, name: call })
      if (end) yield* [chunk.finish('stop'), chunk.usage({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })]
    },
  }
}

const speaker: Provider = { parameters: {}, request: () => ({ status: 200, body: [] }), translator }
const relayed: Provider = { parameters: 'verbatim', request: () => ({ status: 200, body: [] }) }

const wire = (...lines: readonly Line[]): string => lines.map((line) => `data: ${JSON.stringify(line)}\n\n`).join('')

describe('runTranslator', () => {
  it("returns the client's completion for a whole reply", () => {
    const { model, choices, object } = runTranslator(speaker, { whole: { say: 'Hello' } }, { model: 'acme/parrot' })
    expect({ model, object }).to.deep.equal({ model: 'acme/parrot', object: 'chat.completion' })
    expect(choices[0]).to.deep.include({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Hello', refusal: null },
    })
  })

  it("returns the client's chunks for a stream, and that it is complete", () => {
    const { chunks, done, failure, usage } = runTranslator(speaker, {
      stream: wire({ say: 'Hel' }, { say: 'lo' }, { call: 'look' }, { end: true }),
    })
    expect(gather(chunks).choices).to.have.length(1)
    expect(gather(chunks).choices[0]).to.deep.include({ content: 'Hello', finish: 'tool_calls' })
    expect(gather(chunks).choices[0]!.tools[0]).to.include({ name: 'look', arguments: '{}' })
    expect(gather(chunks).usage).to.deep.equal(usage)
    expect(usage).to.include({ total_tokens: 5 })
    expect({ done, failure }).to.deep.equal({ done: true, failure: undefined })
  })

  it('leaves the usage out if the request does not include it', () => {
    const { chunks } = runTranslator(speaker, { stream: wire({ say: 'Hi' }, { end: true }) }, { stream_options: {} })
    expect(gather(chunks).usage).to.equal(undefined)
  })

  it('accepts bytes in pieces, and events without bytes', () => {
    const pieces = Array.from(wire({ say: 'Hi' }, { end: true }), (character) => character)
    const events = [{ say: 'Hi' }, { end: true }].map((line) => ({ type: '', data: JSON.stringify(line) }))
    for (const stream of [pieces, events]) {
      const { chunks, done } = runTranslator(speaker, { stream })
      expect(gather(chunks).choices[0]).to.include({ content: 'Hi' })
      expect(done).to.equal(true)
    }
  })

  it('returns the error of a stream that fails, and the chunks before it', () => {
    for (const [stream, code] of [
      [wire({ say: 'Hi' }, { fault: 503 }), 'upstream_overloaded'],
      [wire({ say: 'Hi' }), 'upstream_disconnected'],
      [`${wire({ say: 'Hi' })}data: oops\n\n`, 'upstream_invalid_response'],
    ] as const) {
      const { chunks, done, failure } = runTranslator(speaker, { stream })
      expect(gather(chunks).choices[0]).to.include({ content: 'Hi' })
      expect({ done, code: failure?.code }).to.deep.equal({ done: false, code })
    }
  })

  it("throws the client's error for a whole reply that fails", () => {
    expect(() => runTranslator(speaker, { whole: { fault: 401 } }))
      .to.throw()
      .with.property('code', 'upstream_authentication_error')
    expect(() => runTranslator(speaker, { whole: 'oops' }))
      .to.throw()
      .with.property('code', 'upstream_invalid_response')
  })

  it('passes a reply through for a provider without a translator', () => {
    const { whole, stream } = openaiReply({ text: 'Grüß dich' })
    expect(runTranslator(relayed, { whole })).to.deep.equal(whole)
    const { chunks, done } = runTranslator(relayed, { stream })
    expect(gather(chunks).choices[0]).to.include({ content: 'Grüß dich', finish: 'stop' })
    expect(done).to.equal(true)
  })

  it('runs a translator without a provider', () => {
    expect(runTranslator(translator(), { whole: { say: 'Hi' } }).choices).to.have.length(1)
  })
})

describe('splitAtEveryByte and cutAtEveryByte', () => {
  const good = wire({ say: 'Grüß dich 🌍' }, { call: 'look' }, { end: true })

  it('accept a translator that does not depend on the pieces', () => {
    splitAtEveryByte(speaker, good)
    cutAtEveryByte(speaker, good)
    const { stream } = openaiReply({ text: 'Grüß dich', tools: [{ name: 'look', arguments: { at: 'sea' } }] })
    splitAtEveryByte(relayed, stream.join(''))
    cutAtEveryByte(relayed, stream.join(''))
  })

  it('report a decoder that takes pieces for events, and the byte', () => {
    const decoder = () => ({
      push: (bytes: Buffer) =>
        String(bytes)
          .split('\n\n')
          .filter(Boolean)
          .map((data) => ({ type: '', data: data.slice(6) })),
      end: () => [],
    })
    const hasty: Provider = { ...speaker, translator: () => ({ ...translator(), decoder }) }
    expect(() => splitAtEveryByte(hasty, good)).to.throw('split at byte 1, the stream differs')
  })

  it('report a translator that takes a cut for an end, and the byte', () => {
    const content: Translator['event'] = ({ data }) => [chunk.content(JSON.parse(data).say ?? ''), chunk.finish('stop')]
    const careless: Provider = { ...speaker, translator: () => ({ ...translator(), event: content }) }
    const stream = wire({ say: 'Hel' }, { say: 'lo' })
    const first = wire({ say: 'Hel' }).length
    expect(() => cutAtEveryByte(careless, stream)).to.throw(`cut at byte ${first}, the stream reads as a complete reply`)
  })

  it('refuse a stream that is not complete', () => {
    expect(() => cutAtEveryByte(speaker, wire({ say: 'Hi' }))).to.throw('the uncut stream is not complete')
  })
})
