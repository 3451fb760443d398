import { expect } from 'chai'
import fc from 'fast-check'
import { StopSearch, stopSequencesOf } from '../../../../plugins/providers/openai-compatible/by-responses/stop.ts'

/** What is said of a text in pieces, and what has ended it. */
function cut(pieces: readonly string[], sequences: readonly string[]) {
  const search = new StopSearch(sequences)
  let text = ''
  for (const piece of pieces) {
    const said = search.read(piece)
    text += said.text
    if (said.stoppedBy !== undefined) return { text, stoppedBy: said.stoppedBy }
  }
  return { text: text + search.end(), stoppedBy: undefined }
}

/** The same, by its definition: the sequence that is complete first, of several the longest. */
function expected(text: string, sequences: readonly string[]) {
  for (let end = 1; end <= text.length; end++) {
    const done = sequences.filter((sequence) => text.slice(0, end).endsWith(sequence))
    const [longest] = done.sort((a, b) => b.length - a.length)
    if (longest !== undefined) return { text: text.slice(0, end - longest.length), stoppedBy: longest }
  }
  return { text, stoppedBy: undefined }
}

describe('Stop sequences', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 4 })

  it('end a text at the same place, whatever its pieces are', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), fc.array(word, { maxLength: 3 }), (pieces, sequences) => {
        expect(cut(pieces, sequences)).to.deep.equal(expected(pieces.join(''), sequences))
      }),
      { numRuns: 3000 },
    )
  })

  it('hold nothing back that cannot begin one', () => {
    const search = new StopSearch(['END'])
    expect(search.read('Hello E')).to.deep.equal({ text: 'Hello ' })
    expect(search.read('N')).to.deep.equal({ text: '' })
    expect(search.read('TER')).to.deep.equal({ text: 'ENTER' })
  })

  it('are read in each form, and are not too many', () => {
    expect([null, undefined, '', 'a', ['a', '', 'b']].map(stopSequencesOf)).to.deep.equal([[], [], [], ['a'], ['a', 'b']])
    expect(() => stopSequencesOf(Array.from({ length: 65 }, String)))
      .to.throw()
      .with.property('param', 'stop')
  })
})
