import { expect } from 'chai'
import { expectStreamed, expectWhole } from '../../../core/testing/conformance/expect-reply.ts'
import { openaiReply } from '../../../core/testing/openai-reply.ts'
import type { Said } from '../../../core/testing/said.ts'
import { gather } from '../../../core/testing/translator/gather.ts'

const LOOK = { name: 'look', arguments: { at: 'it' } }

/** What a reply holds, and the part that its fixture forgot. */
const FORGOTTEN: readonly (readonly [Said, Said, string])[] = [
  [{ text: 'Let me look.', tools: [LOOK] }, { tools: [LOOK] }, 'has no text, but the client read "Let me look."'],
  [{ text: 'Hello', reasoning: 'Hm.' }, { text: 'Hello' }, 'has no reasoning, but the client read "Hm."'],
  [{ tools: [LOOK] }, { text: '', finish: 'tool_calls' }, `has no tools, but the client read ${JSON.stringify([LOOK])}`],
]

describe('what the fixture of a reply does not say', () => {
  for (const [holds, says, told] of FORGOTTEN) {
    const { whole, stream } = openaiReply(holds)
    const begins = `the fixture's \`says\` ${told}`

    it(`is told by its name where the client reads it: ${told}`, () => {
      expect(() => expectWhole(whole, says)).to.throw(begins)
      const chunks = stream.flatMap((text) => [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!)))
      expect(() => expectStreamed(gather(chunks), says)).to.throw(begins)
      expect(() => expectWhole(whole, holds)).not.to.throw()
    })
  }
})
