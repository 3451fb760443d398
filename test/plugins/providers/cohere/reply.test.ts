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
  it('all texts are kept, with nothing between', () => {
    expect(choiceOf({ content: [text('One'), text(' and two.')] }).message.content).to.equal('One and two.')
  })

  it('an answer of tool calls alone has no content; their arguments are JSON', () => {
    const tool_calls = [call('a', '{"at":"sea"}'), call('b', ''), call('c', 'null'), call('d')]
    const { message, finish_reason } = choiceOf({ tool_calls }, { finish_reason: 'TOOL_CALL' })
    expect(message.content).to.equal(null)
    expect(message.tool_calls).to.deep.equal([
      { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } },
      ...['b', 'c', 'd'].map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
    ])
    expect(finish_reason).to.equal('tool_calls')
  })

  it('reasoning is reasoning, not words', () => {
    const { message } = choiceOf({ content: [{ type: 'thinking', thinking: 'Hm.' }, text('Yes.')] })
    expect(message).to.include({ reasoning_content: 'Hm.', content: 'Yes.' })
  })

  for (const [finish_reason, reason] of [
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['A_REASON_YET_TO_COME', 'stop'],
    [undefined, 'stop'],
  ]) {
    it(`${finish_reason} is ${reason}`, () => {
      expect(choiceOf({ content: [text('x')] }, { finish_reason }).finish_reason).to.equal(reason)
    })
  }

  it('an answer with nothing in it is empty, not missing', () => {
    for (const message of [{}, { content: null }, { content: [] }]) expect(choiceOf(message).message.content).to.equal('')
  })

  it('cached tokens are part of the prompt, whole numbers whatever JSON writes', () => {
    const usage = { billed_units: { input_tokens: 5 }, tokens: { input_tokens: 71, output_tokens: 9 }, cached_tokens: 64 }
    expect(complete({}, { usage }).usage).to.deep.equal({
      prompt_tokens: 71,
      completion_tokens: 9,
      total_tokens: 80,
      prompt_tokens_details: { cached_tokens: 64 },
    })
    expect(complete({}, { usage: { tokens: null } })).not.to.have.property('usage')
    expect(complete({})).not.to.have.property('usage')
  })

  it('what was not finished, and what is no reply of the Chat API, are faults of the upstream', () => {
    for (const finish_reason of ['ERROR', 'TIMEOUT']) {
      expect(failureOf({ message: { content: [text('Half')] }, finish_reason })).to.include({ row: 'upstream_error' })
    }
    for (const reply of [{}, { message: null }, { message: 'Not found' }, []]) {
      expect(failureOf(reply), JSON.stringify(reply)).to.include({ row: 'upstream_invalid_response' })
    }
  })
})
