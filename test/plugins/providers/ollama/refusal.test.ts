import { expect } from 'chai'
import { toRefusal } from '../../../../plugins/providers/ollama/refusal.ts'
import { failure } from './chat-api.ts'

const meaningOf = (status: number, words: string) => toRefusal({ status, body: JSON.stringify(failure(status, words).body) })

const TOO_LONG = { status: 400, code: 'context_length_exceeded', param: 'messages' }

describe('ollama: what an error means', () => {
  for (const [status, message, expected] of [
    [400, '"llama3.2" does not support thinking', { status: 400 }],
    [400, 'registry.ollama.ai/library/gemma:2b does not support tools', { status: 400 }],
    [400, 'the input length exceeds the context length', TOO_LONG],
    [400, 'request (9000 tokens) exceeds the available context size (4096 tokens): exceeds context length', TOO_LONG],
    [400, 'the prompt is longer than the context length currently available to the model; shorten the prompt', TOO_LONG],
    [500, 'input exceeds maximum context length and cannot be truncated further', TOO_LONG],
    [401, 'unauthorized', { status: 401 }],
    [403, 'remote inference is unavailable', { status: 403 }],
    [404, "model 'llama9' not found", { status: 404 }],
    [429, 'too many requests', { status: 429 }],
    [500, 'model requires more system memory (9.2 GiB) than is available (4.1 GiB)', { status: 500 }],
    [503, 'server busy, please try again.  maximum pending requests exceeded', { status: 503 }],
  ] as const) {
    it(`${status} "${message}" is ${JSON.stringify(expected)}`, () => {
      expect(meaningOf(status, message)).to.deep.equal({ ...expected, message })
    })
  }

  for (const body of ['', '<html>', '[]', '{}', '{"error":{"message":"x"}}', '{"error":""}']) {
    it(`that says ${body || 'nothing'} is what its status says`, () => {
      expect(toRefusal({ status: 502, body })).to.deep.equal({ status: 502 })
    })
  }
})
