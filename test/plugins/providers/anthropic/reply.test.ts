import { expect } from 'chai'
import { UpstreamError } from 'unified-model-gateway/plugin'
import { fakeCallAndAttempt } from '../../../support/fake-call.ts'
import { anthropic } from './support.ts'

const translator = (await anthropic()).translator!(...fakeCallAndAttempt())!

function complete(reply: Readonly<Record<string, unknown>>) {
  return translator.completion({
    type: 'message',
    id: 'msg_1',
    model: 'claude-haiku-4-5',
    content: [],
    stop_reason: 'end_turn',
    ...reply,
  })
}

const messageOf = (content: unknown) => complete({ content }).choices[0]!.message

describe('anthropic: a whole reply', () => {
  it('has the text of all blocks, without separators', () => {
    const content = [
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo', citations: [{ type: 'char_location' }] },
    ]
    expect(messageOf(content)).to.deep.equal({ content: 'Hello' })
  })

  it('has thinking as reasoning_content', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm. ', signature: 'sig' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'thinking', thinking: 'Ah.', signature: 'sig' },
      { type: 'text', text: 'Yes.' },
    ]
    expect(messageOf(content)).to.deep.equal({ content: 'Yes.', reasoning_content: 'Hm. Ah.' })
  })

  it('has arguments as JSON, {} without arguments, and content null without text', () => {
    const content = [
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sea' } },
      { type: 'tool_use', id: 'toolu_2', name: 'wait', input: {} },
      { type: 'tool_use', id: 'toolu_3', name: 'wait' },
    ]
    expect(messageOf(content)).to.deep.equal({
      content: null,
      tool_calls: [
        { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } },
        { id: 'toolu_2', type: 'function', function: { name: 'wait', arguments: '{}' } },
        { id: 'toolu_3', type: 'function', function: { name: 'wait', arguments: '{}' } },
      ],
    })
  })

  it("omits Anthropic's own tools and unknown blocks", () => {
    const content = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'hologram', text: 'not text' },
      null,
      { type: 'text', text: 'Found.' },
    ]
    expect(messageOf(content)).to.deep.equal({ content: 'Found.' })
  })

  it('has empty content if it has no blocks', () => {
    expect(messageOf([])).to.deep.equal({ content: '' })
  })

  for (const [stop_reason, finish_reason] of [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'length'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['something_new', 'length'],
    ['constructor', 'length'],
    [null, 'stop'],
  ]) {
    it(`has finish_reason ${finish_reason} for stop_reason ${stop_reason}`, () => {
      expect(complete({ stop_reason }).choices[0]).to.include({ finish_reason })
    })
  }

  it('has the explanation of a refusal', () => {
    const explain = (stop_details: unknown) => complete({ stop_reason: 'refusal', stop_details }).choices[0]!.message.refusal
    expect(explain({ type: 'refusal', category: 'bio', explanation: 'This could do harm.' })).to.equal('This could do harm.')
    for (const details of [{ type: 'refusal', category: null, explanation: null }, null, 'words', {}]) {
      expect(explain(details)).to.equal(undefined)
    }
  })

  it('includes cached tokens in the prompt tokens', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 200,
      output_tokens: 50,
      output_tokens_details: { thinking_tokens: 30 },
    }
    expect(complete({ usage }).usage).to.deep.equal({
      prompt_tokens: 1210,
      completion_tokens: 50,
      total_tokens: 1260,
      prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 },
      completion_tokens_details: { reasoning_tokens: 30 },
    })
  })

  it('leaves out invalid counts', () => {
    const usage = { input_tokens: '10', cache_read_input_tokens: null, output_tokens: -3, output_tokens_details: null }
    expect(complete({ usage }).usage).to.not.have.any.keys('prompt_tokens', 'completion_tokens', 'total_tokens')
    expect(complete({ usage: undefined }).usage).to.equal(undefined)
  })

  it('with an error fails with it', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    expect(() => translator.completion(error))
      .to.throw(UpstreamError)
      .with.nested.property('refusal.status', 503)
  })

  for (const body of [null, 'text', [], {}, { type: 'message' }, { type: 'message', content: 'Hello' }, { choices: [] }]) {
    it(`cannot be ${JSON.stringify(body)}`, () => {
      expect(() => translator.completion(body)).to.throw('not a message of the Messages API')
    })
  }
})
