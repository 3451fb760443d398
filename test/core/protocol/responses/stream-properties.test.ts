import { expect } from 'chai'
import { RESPONSES_WIRE } from '../../../../core/protocol/responses/endpoint.ts'
import { ResponseStreamWriter } from '../../../../core/protocol/responses/reply.ts'
import { readState } from '../../../../core/protocol/state.ts'
import { type ReadItem, type ReadResponse, readResponseStream } from '../../../../core/testing/conformance/read-responses.ts'
import type { Reply } from '../any-reply.ts'
import { describeWriter } from '../describe-writer.ts'

const ASKED: Readonly<Record<string, unknown>> = { tools: [{ type: 'custom', name: 'wait' }], instructions: 'Be brief.' }

const isCall = ({ type }: ReadItem): boolean => type === 'function_call' || type === 'custom_tool_call'

const partsOf = (item: ReadItem, member: string) => (item[member] ?? []) as readonly Readonly<Record<string, unknown>>[]

const joined = ({ output }: ReadResponse, member: string, type: string, text: string): string =>
  output
    .flatMap((item) => partsOf(item, member))
    .map((part) => (part.type === type ? String(part[text]) : ''))
    .join('')

/** What a call says, by its kind. */
const toSaid = ({ type, call_id: id, name, arguments: text, input }: ReadItem) => ({
  id,
  name,
  says: type === 'custom_tool_call' ? input : JSON.parse(String(text)),
})

function expectSaid(read: ReadResponse, { words, calls, between, usage }: Reply): void {
  const said = (...members: string[]) => words.flatMap(([member, piece]) => (members.includes(member) ? piece : [])).join('')
  expect(joined(read, 'content', 'output_text', 'text')).to.equal(said('content') + between.join(''))
  expect(joined(read, 'content', 'refusal', 'refusal')).to.equal(said('refusal'))
  expect(joined(read, 'summary', 'summary_text', 'text')).to.equal(said('reasoning_content', 'reasoning'))
  expect(read.output.filter(isCall).map(toSaid)).to.have.deep.members(
    calls.map(({ name, input }, index) => ({
      id: `call_${index}`,
      name,
      // An upstream that does not say `input` is taken at its word.
      says: name === 'wait' ? ('input' in input && typeof input.input === 'string' ? input.input : JSON.stringify(input)) : input,
    })),
  )
  const signatures = calls.flatMap(({ signature }) => signature ?? [])
  const states = read.output.flatMap(({ encrypted_content: state }) => readState(state)?.extra ?? [])
  expect(states).to.have.deep.members(signatures.map((signature) => ({ google: { thought_signature: signature } })))
  expect(read.status).to.equal('completed')
  if (usage) expect(read.usage).to.deep.include({ input_tokens: 9, output_tokens: 4, total_tokens: 13 })
  else expect(read.usage.input_tokens).to.equal(7)
}

describe('A stream of chunks as a stream of the Responses API', () => {
  describeWriter<ReadResponse>({
    wire: RESPONSES_WIRE,
    make: () =>
      new ResponseStreamWriter({
        model: 'open/m',
        owner: undefined,
        promptEstimate: 7,
        large: false,
        member: (name) => ASKED[name],
        mayInclude: () => false,
        keeper: { namespace: 'n', account: 'a', secret: 's' },
      }),
    read: readResponseStream,
    expectSaid,
    expectCut: ({ error }) =>
      expect(error).to.include({
        code: 'upstream_disconnected',
        message: 'The upstream closed the connection before its reply was complete.',
        param: null,
      }),
    withoutChance: (text) => text.replace(/(?<="(?:rs|msg)_)\w+/g, '').replace(/_at":\d+/g, ''),
  })
})
