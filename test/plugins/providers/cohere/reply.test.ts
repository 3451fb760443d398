import { expect } from 'chai'
import type { ChatCompletion, GatewayError } from 'unified-model-gateway/plugin'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { cohere } from './support.ts'

const provider = await cohere()

function complete(message: object, more: object = {}): ChatCompletion {
  return runTranslator(provider, { whole: { id: '1', message, finish_reason: 'COMPLETE', ...more } })
}

function choiceOf(message: object, more: object = {}) {
  return complete(message, more).choices[0]!
}

function failureOf(whole: object): GatewayError {
  try {
    runTranslator(provider, { whole })
  } catch (error) {
    return error as GatewayError
  }
  throw new Error('no failure')
}

const text = (words: string) => ({ type: 'text', text: words })
const call = (id: string, json?: string) => ({ id, type: 'function', function: { name: 'look', arguments: json } })

describe('cohere: a whole reply', () => {
  it('has all texts, without separators', () => {
    expect(choiceOf({ content: [text('One'), text(' and two.')] }).message.content).to.equal('One and two.')
  })

  it('with tool calls only has content null, and arguments as JSON', () => {
    const tool_calls = [call('a', '{"at":"sea"}'), call('b', ''), call('c', 'null'), call('d')]
    const { message, finish_reason } = choiceOf({ tool_calls }, { finish_reason: 'TOOL_CALL' })
    expect(message.content).to.equal(null)
    expect(message.tool_calls).to.deep.equal([
      { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } },
      ...['b', 'c', 'd'].map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
    ])
    expect(finish_reason).to.equal('tool_calls')
  })

  it('has its citations as Cohere writes them', () => {
    const citations = [{ start: 0, end: 3, text: 'One', sources: [{ type: 'tool', id: 'look_0', tool_output: { at: 'sea' } }] }]
    const { message } = choiceOf({ content: [text('One')], citations })
    expect(message.extra_content).to.deep.equal({ cohere: { citations } })
    expect(choiceOf({ content: [text('One')], citations: [] }).message).to.not.have.property('extra_content')
  })

  it('has thinking as reasoning', () => {
    const { message } = choiceOf({ content: [{ type: 'thinking', thinking: 'Hm.' }, text('Yes.')] })
    expect(message).to.include({ reasoning_content: 'Hm.', content: 'Yes.' })
  })

  for (const [finish_reason, reason] of [
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['A_REASON_YET_TO_COME', 'length'],
    [undefined, 'stop'],
  ]) {
    it(`has finish_reason ${reason} for ${finish_reason}`, () => {
      expect(choiceOf({ content: [text('x')] }, { finish_reason }).finish_reason).to.equal(reason)
    })
  }

  it('has empty content if it has no text', () => {
    for (const message of [{}, { content: null }, { content: [] }]) expect(choiceOf(message).message.content).to.equal('')
  })

  it('includes cached tokens in the prompt tokens', () => {
    const usage = { billed_units: { input_tokens: 5 }, tokens: { input_tokens: 71, output_tokens: 9 }, cached_tokens: 64 }
    expect(complete({}, { usage }).usage).to.deep.equal({
      prompt_tokens: 71,
      completion_tokens: 9,
      total_tokens: 80,
      prompt_tokens_details: { cached_tokens: 64, unbilled_tokens: 66 },
    })
    expect(complete({}, { usage: { tokens: null } })).not.to.have.property('usage')
    expect(complete({})).not.to.have.property('usage')
  })

  it('that is unfinished or invalid fails', () => {
    for (const finish_reason of ['ERROR', 'TIMEOUT']) {
      expect(failureOf({ message: { content: [text('Half')] }, finish_reason })).to.include({ row: 'upstream_error' })
    }
    for (const reply of [{}, { message: null }, { message: 'Not found' }, []]) {
      expect(failureOf(reply), JSON.stringify(reply)).to.include({ row: 'upstream_invalid_response' })
    }
  })
})
