import { expect } from 'chai'
import { MESSAGES_WIRE } from '../../../../core/protocol/messages/endpoint.ts'
import { MessageStreamWriter } from '../../../../core/protocol/messages/stream.ts'
import { type ReadStream, readMessageStream } from '../../../../core/testing/conformance/read-messages.ts'
import type { Reply } from '../any-reply.ts'
import { describeWriter } from '../describe-writer.ts'

const joined = ({ content }: ReadStream, type: string): string =>
  content.flatMap((block) => (block.type === type ? String(block[type]) : [])).join('')

function expectSaid(read: ReadStream, { words, calls, between, usage }: Reply): void {
  const said = (...members: string[]) => words.flatMap(([member, piece]) => (members.includes(member) ? piece : [])).join('')
  const tools = read.content.filter(({ type }) => type === 'tool_use')
  expect(joined(read, 'text')).to.equal(said('content', 'refusal') + between.join(''))
  expect(joined(read, 'thinking')).to.equal(said('reasoning_content', 'reasoning'))
  expect(tools.map(({ id, name, input }) => ({ id, name, input }))).to.have.deep.members(
    calls.map(({ name, input }, index) => ({ id: `call_${index}`, name, input })),
  )
  expect(read.stop).to.equal(said('refusal') !== '' ? 'refusal' : calls.length > 0 ? 'tool_use' : 'end_turn')
  if (usage) expect(read.usage).to.include({ input_tokens: 7, cache_read_input_tokens: 2, output_tokens: 4 })
  else expect(read.usage.input_tokens).to.equal(7)
}

describe('A stream of chunks as a stream of the Messages API', () => {
  describeWriter<ReadStream>({
    wire: MESSAGES_WIRE,
    make: () =>
      new MessageStreamWriter({
        model: 'open/m',
        owner: undefined,
        promptEstimate: 7,
        large: false,
        member: () => undefined,
        mayInclude: () => false,
        keeper: { namespace: 'n', account: 'a', secret: 's' },
      }),
    read: readMessageStream,
    expectSaid,
    expectCut: ({ error }) =>
      expect(error).to.deep.equal({
        type: 'api_error',
        message: 'The upstream closed the connection before its reply was complete.',
      }),
  })
})
