import { expect } from 'chai'
import type { ChatCompletion, GatewayError } from 'unified-model-gateway/plugin'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { bedrock, MODEL } from './support.ts'

const provider = await bedrock()

function complete(content: readonly object[], more: object = {}): ChatCompletion {
  const reply = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', ...more }
  return runTranslator(provider, { whole: reply }, { model: `aws/${MODEL}` })
}

function messageOf(content: readonly object[], more: object = {}) {
  return complete(content, more).choices[0]!
}

function failureOf(whole: object): GatewayError {
  try {
    runTranslator(provider, { whole })
  } catch (error) {
    return error as GatewayError
  }
  throw new Error('no failure')
}

describe('bedrock: a whole reply', () => {
  it('has the text of all blocks, without separators', () => {
    const cited = { citationsContent: { content: [{ text: ' and' }, { text: ' cited' }], citations: [] } }
    expect(messageOf([{ text: 'One' }, cited, { text: '.' }]).message.content).to.equal('One and cited.')
  })

  it('with tool calls only has content null, and arguments as JSON', () => {
    const call = (toolUseId: string, input?: object) => ({ toolUse: { toolUseId, name: 'look', input } })
    const { message, finish_reason } = messageOf([call('a', { at: 'sea' }), call('b'), call('c', {})], { stopReason: 'tool_use' })
    expect(message.content).to.equal(null)
    expect(message.tool_calls).to.deep.equal([
      { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } },
      { id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } },
      { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } },
    ])
    expect(finish_reason).to.equal('tool_calls')
  })

  it('omits tools that Bedrock ran', () => {
    const own = { toolUse: { toolUseId: 's', name: 'nova_grounding', type: 'server_tool_use', input: {} } }
    expect(messageOf([own, { toolResult: { toolUseId: 's', content: [] } }, { text: 'Low tide.' }]).message).to.deep.equal({
      role: 'assistant',
      content: 'Low tide.',
      refusal: null,
    })
  })

  it('has reasoning as reasoning_content', () => {
    const thought = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } }
    const { message } = messageOf([thought, { reasoningContent: { redactedContent: 'eA==' } }, { text: 'Yes.' }])
    expect(message).to.include({ reasoning_content: 'Hm.', content: 'Yes.' })
  })

  for (const [stopReason, reason] of [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['an unknown reason', 'length'],
    [undefined, 'stop'],
  ]) {
    it(`has finish_reason ${reason} for ${stopReason}`, () =>
      expect(messageOf([{ text: 'x' }], { stopReason }).finish_reason).to.equal(reason))
  }

  it('has empty content if it has no blocks', () => {
    expect(messageOf([]).message.content).to.equal('')
  })

  it('includes cached tokens in the prompt tokens', () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 315, cacheReadInputTokens: 200, cacheWriteInputTokens: 100 }
    expect(complete([{ text: 'x' }], { usage }).usage).to.deep.equal({
      prompt_tokens: 310,
      completion_tokens: 5,
      total_tokens: 315,
      prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 100 },
    })
    expect(complete([{ text: 'x' }])).not.to.have.property('usage')
  })

  it('with malformed output or any other body fails', () => {
    const content = [{ text: 'x' }]
    expect(failureOf({ output: { message: { content } }, stopReason: 'malformed_tool_use' })).to.include({
      row: 'upstream_error',
    })
    for (const reply of [{}, { output: null }, { output: { message: { content: 'x' } } }, { message: 'Forbidden' }, []]) {
      expect(failureOf(reply), JSON.stringify(reply)).to.include({ row: 'upstream_invalid_response' })
    }
  })
})
