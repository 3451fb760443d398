import { expect } from 'chai'
import { translate, upstream } from './support.ts'

async function sampled(body: Readonly<Record<string, unknown>>) {
  const { body: text, dropped } = await upstream(body)
  const { model: _, messages: __, ...rest } = JSON.parse(String(text))
  return { ...rest, dropped }
}

describe('cohere: sampling', () => {
  it('what Cohere has no room for, is the most or the least that it has', async () => {
    expect(await translate({ temperature: 1.7, top_p: 1 })).to.include({ temperature: 1, p: 0.99 })
    expect(await translate({ temperature: 0, top_p: 0 })).to.include({ temperature: 0, p: 0.01 })
    expect(await translate({ frequency_penalty: 1.5 })).to.include({ frequency_penalty: 1 })
  })

  it('a seed has no sign', async () => expect(await translate({ seed: -7 })).to.include({ seed: 7 }))

  it('Cohere takes one penalty of both: the reply says that the other was dropped', async () => {
    expect(await sampled({ frequency_penalty: 0.5, presence_penalty: 0.4 })).to.deep.equal({
      frequency_penalty: 0.5,
      dropped: ['presence_penalty'],
    })
  })

  it('Cohere rewards no repetition', async () => {
    expect(await sampled({ frequency_penalty: -1, presence_penalty: 0.4 })).to.deep.equal({
      presence_penalty: 0.4,
      dropped: ['frequency_penalty'],
    })
    expect(await sampled({ frequency_penalty: 0, presence_penalty: 0 })).to.deep.equal({ dropped: [] })
  })

  it('an empty word to stop at is dropped', async () => {
    expect(await sampled({ stop: ['END', ''] })).to.deep.equal({ stop_sequences: ['END'], dropped: ['stop'] })
    expect(await sampled({ stop: '' })).to.deep.equal({ dropped: ['stop'] })
  })

  it('null asks for nothing', async () => {
    const body = { temperature: null, top_p: null, seed: null, stop: null, frequency_penalty: null, max_tokens: null }
    expect(await sampled({ ...body, reasoning_effort: null, response_format: null, stream: null })).to.deep.equal({ dropped: [] })
  })
})
