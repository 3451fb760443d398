import assert from 'node:assert/strict'
import { tableFor } from '../../../routing/handler.ts'
import { CALL_IDS, CONVERSATION, type Conversation, TOOL_CONVERSATION } from '../client-requests.ts'
import type { Suite } from '../harness.ts'
import { request } from '../requests.ts'
import { wholeScript } from '../scripts.ts'

/** Cases for what no translation of a request may lose, whatever its format. */
export function describeConversations(suite: Suite): void {
  const { subject } = suite

  /** Sends a conversation. Resolves to the body of the upstream request, or to the client's error. */
  async function send({ asked }: Conversation): Promise<string> {
    const { harness } = suite
    const { text } = subject.scenarios
    harness.answer(wholeScript(text))
    const reply = await harness.post(request(subject.model, { ...text.asked, ...asked }))
    assert.equal(reply.status, 200, await reply.text())
    return harness.received.at(-1)!.body.toString()
  }

  describe('sends all of a conversation', () => {
    it('with its instructions, in its order', async () => {
      expectAll(await send(CONVERSATION), CONVERSATION)
    })

    it('with its tools, their calls and the results, in its order', async () => {
      const table = tableFor(suite.harness.provider, subject.model)
      if (table !== 'verbatim' && table.tools?.support !== 'mapped') return
      const sent = await send(TOOL_CONVERSATION)
      expectAll(sent, TOOL_CONVERSATION)
      for (const id of CALL_IDS) {
        assert.ok(
          sent.split(id).length !== 2,
          `a call and its result have the same id, or the upstream has none: ${id} in ${sent}`,
        )
      }
    })
  })
}

function expectAll(sent: string, { says, states }: Conversation): void {
  const missing = [...says, ...states].filter((text) => !sent.includes(text))
  assert.deepEqual(missing, [], `missing in ${sent}`)
  const places = says.map((text) => sent.indexOf(text))
  assert.ok(
    places.every((place, index) => index === 0 || place > places[index - 1]!),
    `the order is not that of the conversation: ${sent}`,
  )
}
