import { expect } from 'chai'
import { expectStreamed, expectWhole } from '../../../core/testing/conformance/expect-reply.ts'
import { gather } from '../../../core/testing/translator/gather.ts'
import { openaiReply, type Said } from '../../../core/testing/upstream/openai-reply.ts'

const LOOK = { name: 'look', arguments: { at: 'it' } }

/** A reply's content, an incomplete `says`, and the end of the error message. */
const INCOMPLETE: readonly (readonly [Said, Said, string])[] = [
  [{ text: 'Let me look.', tools: [LOOK] }, { tools: [LOOK] }, 'has no text, but the client read "Let me look."'],
  [{ text: 'Hello', reasoning: 'Hm.' }, { text: 'Hello' }, 'has no reasoning, but the client read "Hm."'],
  [{ tools: [LOOK] }, { text: '', finish: 'tool_calls' }, `has no tools, but the client read ${JSON.stringify([LOOK])}`],
]

describe('A fixture with incomplete `says`', () => {
  for (const [content, says, detail] of INCOMPLETE) {
    const { whole, stream } = openaiReply(content)
    const message = `the fixture's \`says\` ${detail}`

    it(`fails with the name of the missing part: it ${detail}`, () => {
      expect(() => expectWhole(whole, says)).to.throw(message)
      const chunks = stream.flatMap((text) => [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!)))
      expect(() => expectStreamed(gather(chunks), says)).to.throw(message)
      expect(() => expectWhole(whole, content)).not.to.throw()
    })
  }
})
