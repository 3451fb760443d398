import { expect } from 'chai'
import { type Translator, UpstreamError } from 'unified-model-gateway/plugin'
import { runTranslator } from 'unified-model-gateway/plugin/testing'

/** Says what it is given, and breaks off where that is an error. */
function echo(): Translator & { readonly heard: string[] } {
  const heard: string[] = []
  return {
    heard,
    completion: () => ({ choices: [] }),
    *event({ data }) {
      heard.push(data)
      if (data.includes('"error"')) throw new UpstreamError({ status: 503 })
      yield { choices: [{ delta: { content: data }, finish_reason: 'stop' }] }
    },
  }
}

const ERROR = JSON.stringify({ error: { message: 'Überlastet' } }, null, 2)

describe('a stream that ends with JSON outside of an event', () => {
  for (const [how, text] of [
    ['with a line end', `${ERROR}\n`],
    ['without one', ERROR],
    ['after CR LF', `\r\n${ERROR.replaceAll('\n', '\r\n')}`],
    ['in one line', JSON.stringify(JSON.parse(ERROR))],
  ] as const) {
    it(`ends with the error of the JSON (${how}), in pieces of any size`, () => {
      const bytes = Buffer.from(`data: hello\n\n${text}`)
      for (const at of bytes.keys()) {
        const translator = echo()
        const { done, failure } = runTranslator(translator, { stream: [bytes.subarray(0, at), bytes.subarray(at)] })
        expect({ done, row: failure?.row }).to.deep.equal({ done: false, row: 'upstream_overloaded' })
        expect(JSON.parse(translator.heard[1]!)).to.deep.equal(JSON.parse(ERROR))
      }
    })
  }

  for (const [what, text] of [
    ['JSON that was cut off', ERROR.slice(0, -1)],
    ['words', 'upstream connect error\n'],
    ['a number', '503\n'],
    ['a field of no meaning', 'foo: {"error":1}\n'],
    ['the beginning of an event', 'data: {"error":1}'],
    ['more than an error has to say', `{"error":"${'x'.repeat(70_000)}"}`],
  ] as const) {
    it(`is not ended by ${what}`, () => {
      const translator = echo()
      expect(runTranslator(translator, { stream: [`data: hello\n\n${text}`] }).done).to.equal(true)
      expect(translator.heard).to.deep.equal(['hello'])
    })
  }
})
