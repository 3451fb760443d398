import { expect } from 'chai'
import { translate } from './support.ts'

const marked = (text: string) => ({ type: 'text', text, prompt_cache_breakpoint: { mode: 'explicit' } })
const plain = (text: string) => ({ type: 'text', text })
const MARK = { cache_control: { type: 'ephemeral' } }

describe('anthropic: prompt caches', () => {
  it('what a client marks is kept up to the mark', async () => {
    const { messages } = await translate({ messages: [{ role: 'user', content: [marked('Long.'), plain('Short?')] }] })
    expect(messages[0]!.content).to.deep.equal([{ ...plain('Long.'), ...MARK }, plain('Short?')])
  })

  it('instructions can be marked, and stay what they are', async () => {
    const { system } = await translate({
      messages: [
        { role: 'system', content: [marked('Be brief.')] },
        { role: 'developer', content: 'Rhyme.' },
        { role: 'user', content: 'Hi' },
      ],
    })
    expect(system).to.deep.equal([{ ...plain('Be brief.'), ...MARK }, plain('Rhyme.')])
  })

  it("a tool's result is marked as a whole", async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const { messages } = await translate({
      messages: [
        { role: 'user', content: '?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: [marked('Blue.'), plain('Grey.')] },
      ],
    })
    const content = [plain('Blue.'), plain('Grey.')]
    expect(messages[2]!.content).to.deep.equal([{ type: 'tool_result', tool_use_id: 'c1', content, ...MARK }])
  })

  it('of more marks than Anthropic takes, the latest four stay', async () => {
    const request = await translate({
      messages: [
        { role: 'system', content: [marked('0')] },
        { role: 'user', content: [marked('1'), plain('-'), marked('2')] },
        { role: 'assistant', content: [marked('3')] },
        { role: 'user', content: [marked('4')] },
      ],
    })
    expect(request.system).to.equal('0')
    const kept = request.messages.flatMap(({ content }) => content.filter((block) => 'cache_control' in block))
    expect(kept.map((block) => 'text' in block && block.text)).to.deep.equal(['1', '2', '3', '4'])
  })
})
