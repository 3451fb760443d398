import { expect } from 'chai'
import { type CallContext, ClientCall, UNCOUNTED } from '../../../core/protocol/call.ts'
import { JsonBody } from '../../../core/protocol/json-body.ts'
import { isKeptBy, sealed } from '../../../core/protocol/kept-ids.ts'

const KEEPER = { namespace: 'up', account: 'acc', secret: 's' }

const CONTEXT: CallContext = {
  id: 'req_1',
  endpoint: 'responses',
  check: () => undefined,
  resolve: () => ({ id: 'up/m', namespace: 'up', model: 'm' }),
  upstreamHeaders: {},
  memory: UNCOUNTED,
  decided: false,
}

const call = (members: object): ClientCall =>
  new ClientCall(CONTEXT, JsonBody.read(Buffer.from(JSON.stringify({ model: 'up/m', ...members })), CONTEXT))

const reference = (id: string) => ({ type: 'item_reference', id })

describe('the tokens of what a call refers to', () => {
  for (const [what, members, tokens] of [
    ['nothing', { input: 'Hi' }, 0],
    ['a response', { previous_response_id: sealed('resp_1', KEEPER, 1200) }, 1200],
    [
      'a response and items',
      { previous_response_id: sealed('resp_1', KEEPER, 1200), input: [reference(sealed('msg_1', KEEPER, 34))] },
      1234,
    ],
    ['a response whose id does not say', { previous_response_id: sealed('resp_1', KEEPER) }, undefined],
    ['a conversation', { conversation: 'conv_1' }, undefined],
    ['an item that is sent whole', { input: [{ type: 'message', id: sealed('msg_1', KEEPER, 34), content: 'Hi' }] }, 0],
  ] as const) {
    it(`are ${tokens}: ${what}`, () => {
      expect(call(members).keptTokens).to.equal(tokens)
    })
  }

  it('are covered by the seal', () => {
    const id = sealed('resp_1', KEEPER, 400_000)
    expect([
      isKeptBy(id, KEEPER),
      isKeptBy(id.replace('400000', '4'), KEEPER),
      isKeptBy(id.replace('400000.', ''), KEEPER),
    ]).to.deep.equal([true, false, false])
    expect(isKeptBy(sealed('resp_1', KEEPER), KEEPER)).to.equal(true)
  })
})
