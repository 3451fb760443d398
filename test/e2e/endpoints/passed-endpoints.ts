/** A request to an endpoint whose requests and replies are passed through, and a reply to it. */
export interface PassedCase {
  readonly name: string
  readonly path: string
  /** Without `model`. */
  readonly body: Readonly<Record<string, unknown>>
  /** A required member besides `model`. */
  readonly required?: string
  readonly reply: Readonly<Record<string, unknown>>
  /** What the reply says of tokens; absent: nothing. */
  readonly tokens?: { readonly input: number; readonly output: number }
}

const IMAGE_USAGE = {
  input_tokens: 20,
  output_tokens: 4160,
  total_tokens: 4180,
  input_tokens_details: { text_tokens: 20, image_tokens: 0 },
}

/** One of each kind. */
export const PASSED: readonly PassedCase[] = [
  {
    name: 'completions',
    path: '/v1/completions',
    body: { prompt: 'Once upon', max_tokens: 5, logit_bias: { '50256': -100 } },
    reply: {
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'm-2026',
      choices: [{ text: ' a time', index: 0, logprobs: null, finish_reason: 'length' }],
      usage: { prompt_tokens: 2, completion_tokens: 5, total_tokens: 7 },
    },
    tokens: { input: 2, output: 5 },
  },
  {
    name: 'moderations',
    path: '/v1/moderations',
    body: { input: 'I hate this test' },
    required: 'input',
    reply: {
      id: 'modr-1',
      model: 'm-2026',
      results: [{ flagged: false, categories: { hate: false }, category_scores: { hate: 0.25 } }],
    },
  },
  {
    name: 'images.generations',
    path: '/v1/images/generations',
    body: { prompt: 'A fox', n: 2, size: '1024x1024', quality: 'high' },
    required: 'prompt',
    reply: { created: 1, data: [{ b64_json: 'Zm94' }, { b64_json: 'Zm94ZXM=' }], usage: IMAGE_USAGE },
    tokens: { input: 20, output: 4160 },
  },
  {
    name: 'rerank',
    path: '/v1/rerank',
    body: { query: 'fox', documents: ['a fox', { text: 'a dog' }], top_n: 1 },
    required: 'documents',
    reply: {
      model: 'm-2026',
      object: 'list',
      usage: { total_tokens: 815, prompt_tokens: 815 },
      results: [{ index: 0, relevance_score: 0.75, document: { text: 'a fox' } }],
    },
    tokens: { input: 815, output: 0 },
  },
]
