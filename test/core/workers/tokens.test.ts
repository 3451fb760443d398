import { expect } from 'chai'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { countPromptTokens } from '../../../core/workers/tokens.ts'

const count = (body: unknown): number => countPromptTokens(Buffer.from(JSON.stringify(body)))

/** Tokens of one user message with this content. */
const prompt = (content: unknown): number => count({ messages: [{ role: 'user', content }] })

const image = (bytes: number) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${'iVBORw0KGgo'.repeat(bytes / 11)}` },
})

describe('the tokens of a prompt', () => {
  const EMPTY = prompt('')

  it('are the tokens of its texts by o200k, and a few for each message', () => {
    const text = 'The quick brown fox jumps over the lazy dog. Zwölf Boxkämpfer jagen Viktor. 天地玄黃'
    expect(prompt(text)).to.equal(EMPTY + encode(text).length)
    expect(prompt([{ type: 'text', text }])).to.equal(EMPTY + encode(text).length)
    expect(count({ messages: [] })).to.equal(3)
  })

  it('are the same for an image of any size', () => {
    expect(prompt([image(1_000_000)])).to.equal(prompt([image(1000)]))
    expect(prompt([image(1000), image(1000)]) - prompt([image(1000)])).to.be.greaterThan(50)
  })

  it('include tools, tool calls and a response format', () => {
    const plain = count({ messages: [{ role: 'user', content: 'x' }] })
    const named = { name: 'get_current_temperature_of_a_city' }
    const messages = [{ role: 'user', content: 'x' }]
    expect(count({ messages, tools: [{ type: 'function', function: named }] })).to.be.greaterThan(plain + 5)
    expect(count({ messages, response_format: { type: 'json_schema', json_schema: named } })).to.be.greaterThan(plain + 5)
    const calling = [{ role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: named }] }]
    expect(count({ messages: calling })).to.be.greaterThan(count({ messages: [{ role: 'assistant', content: null }] }) + 5)
  })

  it('are the tokens of the inputs of an embeddings request', () => {
    const text = 'The quick brown fox jumps over the lazy dog.'
    const one = count({ input: text })
    expect(one).to.be.within(encode(text).length, encode(text).length + 3)
    expect(count({ input: [text, text] }) - one).to.equal(encode(text).length)
    expect(count({ input: Array(1000).fill(7) }) - count({ input: [] })).to.equal(1000)
    expect(count({ input: [Array(600).fill(7), Array(400).fill(7)] }) - count({ input: [] })).to.equal(1000)
  })

  it('are the tokens of instructions, items and tool results of a responses request', () => {
    const text = 'The quick brown fox jumps over the lazy dog.'
    const tokens = encode(text).length
    const more = (body: object, without: object) => expect(count(body) - count(without)).to.be.within(tokens - 1, tokens + 1)
    more({ input: 'x', instructions: text }, { input: 'x' })
    more({ input: [{ role: 'user', content: text }] }, { input: [{ role: 'user', content: '' }] })
    const said = (words: string) => ({ input: [{ role: 'user', content: [{ type: 'input_text', text: words }] }] })
    more(said(text), said(''))
    const result = (output: string) => ({ input: [{ type: 'function_call_output', call_id: 'call_1', output }] })
    more(result(text), result(''))
    const seen = { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo' }] }
    expect(count({ input: [seen] })).to.be.greaterThan(500)
  })

  it('are counted for a text with a control token of the model', () => {
    expect(prompt('<|endoftext|><|im_start|>system')).to.be.greaterThan(EMPTY)
  })

  it('are extrapolated for a text that is too long to encode', () => {
    const sentence = 'Call me Ishmael. Some years ago, never mind how long precisely, '
    const exact = encode(sentence.repeat(100)).length / 100
    const estimated = prompt(sentence.repeat(100_000)) - EMPTY
    expect(estimated / (exact * 100_000)).to.be.within(0.98, 1.02)
  })

  // Uncut, a run of 100,000 spaces alone takes the tokenizer five seconds.
  it('are counted for texts that are made to be slow', () => {
    for (const run of [' ', '\n', 'a', '漢', '\u{1f642}', '\ud800', '!'])
      expect(prompt(run.repeat(1_000_000))).to.be.greaterThan(1000)
  })

  it('are counted for bodies of any shape', () => {
    for (const body of [
      {},
      { messages: 7 },
      { messages: [null, 7, 'x', []] },
      { messages: [{ content: [null, 7, 'x'] }] },
      [],
      null,
      7,
    ]) {
      expect(count(body)).to.be.a('number').that.is.at.least(3)
    }
    expect(() => countPromptTokens(Buffer.from('{'))).to.throw(SyntaxError)
  })
})
