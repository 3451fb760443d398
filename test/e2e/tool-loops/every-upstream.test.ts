import { expect } from 'chai'
import { getsThoughtBack } from '../clients/cases.ts'
import { type Fixture, startFixture } from '../clients/fixture.ts'
import { CHAT_ONLY, type Protocol, THOUGHT, VENDORS } from '../clients/vendors.ts'
import { type Body, LOOP_CLIENTS, type LoopClient } from './clients.ts'

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
}

const PLACES = [59, 41]
const FOUND = PLACES.map((at) => `Rain at ${at}.`)

describe('Every upstream, by the wire of each protocol', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  for (const vendor of [...VENDORS, CHAT_ONLY]) {
    for (const client of LOOP_CLIENTS) {
      for (const stream of [false, true]) {
        it(`${vendor.name}: a loop of tools and a second turn by ${client.name}, ${stream ? 'streamed' : 'whole'}`, async () => {
          const model = fixture.models.get(vendor)!
          const tools = PLACES.map((at) => ({ name: 'look', arguments: { at } }))
          model.script([{ reasoning: THOUGHT, tools }, { text: 'Rain.' }, { text: 'Sun.' }])

          const asked = client.begin('How is it?')
          const called = await ask(client, model.id, asked, stream)
          const ids = client.calls(called)
          expect(ids).to.have.length(PLACES.length)
          const looked = client.next(
            asked,
            called,
            ids.map((id, index) => ({ id, output: FOUND[index]! })),
          )
          const first = await ask(client, model.id, looked, stream)
          expect(client.textOf(first)).to.equal('Rain.')
          const second = await ask(client, model.id, client.next(looked, first, [], 'And tomorrow?'), stream)
          expect(client.textOf(second)).to.equal('Sun.')

          expect(model.asked.map(({ streamed }) => streamed)).to.deep.equal([stream, stream, stream])
          const [, withResults, withAnswer] = model.asked
          for (const found of FOUND) expect(withResults!.body).to.contain(found)
          for (const said of [...FOUND, 'Rain.', 'And tomorrow?']) expect(withAnswer!.body).to.contain(said)
          expect(getsThoughtBack(vendor, PROTOCOLS[client.path]!, withResults!), withResults!.body).to.not.equal(false)
        })
      }
    }
  }

  /** Asks, and returns the model's part of the conversation. */
  async function ask(client: LoopClient, model: string, body: Body, stream: boolean) {
    const reply = await fetch(fixture.url + client.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body, stream }),
    })
    const text = await reply.text()
    expect(reply.status, text).to.equal(200)
    return client.read(text, stream)
  }
})
