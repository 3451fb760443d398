import { expect } from 'chai'
import type { UpstreamEvent } from 'unified-model-gateway/plugin'
import { FrameDecoder } from '../../../../plugins/providers/bedrock/frames.ts'
import { event, exception, fixture, frame } from './support.ts'

function decode(pieces: readonly Buffer[]): UpstreamEvent[] {
  const decoder = new FrameDecoder()
  return [...pieces.flatMap((piece) => [...decoder.push(piece)]), ...decoder.end()]
}

describe('bedrock: frames', () => {
  it('have a type, headers and a payload', () => {
    const [one] = decode([event({ contentBlockDelta: { delta: { text: '世界 👋' } } })])
    expect(one).to.deep.equal({
      type: 'contentBlockDelta',
      data: '{"delta":{"text":"世界 👋"}}',
      headers: { ':event-type': 'contentBlockDelta', ':content-type': 'application/json', ':message-type': 'event' },
    })
  })

  it('are the same in pieces of any size', () => {
    const frames = fixture('parallel-tools')
    const bytes = Buffer.concat(frames)
    const expected = decode(frames)
    expect(expected).to.have.length(frames.length)
    expect(decode([bytes])).to.deep.equal(expected)
    for (let at = 1; at < bytes.length; at++) expect(decode([bytes.subarray(0, at), bytes.subarray(at)])).to.deep.equal(expected)
    expect(decode(Array.from(bytes, (byte) => Buffer.of(byte)))).to.deep.equal(expected)
  })

  it('with a flipped bit fail', () => {
    const bytes = Buffer.concat([
      event({ messageStart: { role: 'assistant' } }),
      event({ messageStop: { stopReason: 'end_turn' } }),
    ])
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => decode([flipped]), `bit ${bit}`).to.throw(/checksum/)
    }
  })

  it('with a wrong length fail at once', () => {
    const bytes = event({ messageStart: { role: 'assistant' } })
    bytes.writeUInt32BE(5000, 0)
    expect(() => [...new FrameDecoder().push(bytes.subarray(0, 12))]).to.throw('prelude')
  })

  it('that are too long fail', () => {
    const huge = frame({ ':event-type': 'metadata' }, 'x'.repeat(17 << 20))
    expect(() => [...new FrameDecoder().push(huge.subarray(0, 12))]).to.throw(/more than 16777216/)
  })

  it('before an invalid one are read', () => {
    const bad = exception('throttlingException', 'Slow down.')
    bad[bad.length - 1]! ^= 1
    const read: string[] = []
    expect(() => {
      for (const { type } of new FrameDecoder().push(Buffer.concat([...fixture('text'), bad]))) read.push(type)
    }).to.throw('checksum')
    expect(read).to.have.length(fixture('text').length)
  })

  it('may have headers of other types, which are ignored', () => {
    expect(decode([frame({}, {})])).to.deep.equal([{ type: '', data: '{}', headers: {} }])
  })
})
