import { expect } from 'chai'
import { json, reply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

/** An error of a vendor, and what the client reads of it. */
interface Recorded {
  readonly vendor: string
  readonly preset?: string
  readonly status?: number
  /** As it is sent: `''` is an empty body. */
  readonly body: unknown
  readonly says?: string
  readonly code?: string | null
}

const openaiError = (message: string, more: object = {}) => ({ error: { message, type: 'invalid_request_error', ...more } })

/** Bodies that vendors send. */
const BODIES: readonly Recorded[] = [
  {
    vendor: 'Cerebras, flat',
    preset: 'cerebras',
    body: { message: "property 'store' is unsupported", type: 'invalid_request_error', param: 'store', code: 'wrong_api_format' },
    says: "property 'store' is unsupported",
    code: 'wrong_api_format',
  },
  {
    vendor: 'Cohere, flat',
    status: 422,
    body: { id: '5d1', message: "unknown field: parameter 'strict' is not a valid field" },
    says: "unknown field: parameter 'strict' is not a valid field",
  },
  {
    vendor: 'NVIDIA, flat with a number as code',
    preset: 'nvidia',
    body: { message: 'Validation: Unsupported parameter(s): reasoning_budget', type: 'Bad Request', code: 400 },
    says: 'Unsupported parameter(s): reasoning_budget',
  },
  {
    vendor: 'NVIDIA, RFC 9457',
    preset: 'nvidia',
    status: 422,
    body: { type: 'about:blank', title: 'Unprocessable Entity', status: 422, detail: 'messages: field required' },
    says: 'messages: field required',
  },
  {
    vendor: 'xAI, a text with a code beside it',
    preset: 'xai',
    body: { code: 'invalid-argument', error: 'Model grok-4 does not support parameter stop.' },
    says: 'Model grok-4 does not support parameter stop.',
    code: 'invalid-argument',
  },
  {
    vendor: 'LM Studio, a text',
    body: { error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" },
    says: "Invalid tool_choice type: 'object'",
  },
  {
    vendor: 'Gemini, a list',
    preset: 'gemini',
    body: [{ error: { code: 400, message: 'Unknown name "store": Cannot find field.', status: 'INVALID_ARGUMENT' } }],
    says: 'Unknown name "store": Cannot find field.',
  },
  {
    vendor: 'Mistral, an object as message',
    preset: 'mistral',
    status: 422,
    body: {
      object: 'error',
      message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'store'], msg: 'Extra inputs are not permitted' }] },
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
    says: 'Extra inputs are not permitted: store',
  },
  {
    vendor: 'Mistral, a number as code',
    preset: 'mistral',
    body: {
      object: 'error',
      message: "Unexpected role 'user' after role 'tool'",
      type: 'invalid_request_message_order',
      code: 3230,
    },
    says: "Unexpected role 'user' after role 'tool'",
  },
  {
    vendor: 'SGLang, a list of fields',
    status: 422,
    body: { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }] },
    says: 'Field required: messages',
  },
  {
    vendor: 'Together, flat',
    preset: 'together',
    body: { message: 'Input validation error', type_: 'invalid_request_error' },
    says: 'Input validation error',
  },
  {
    vendor: 'Fireworks, a text',
    preset: 'fireworks',
    body: { error: 'Extra inputs are not permitted' },
    says: 'Extra inputs are not permitted',
  },
  {
    vendor: 'OpenRouter, a number as code',
    preset: 'openrouter',
    body: { error: { code: 400, message: 'Reasoning is mandatory for this endpoint', metadata: {} }, user_id: 'u' },
    says: 'Reasoning is mandatory for this endpoint',
  },
  {
    vendor: 'Alibaba, with a word as code',
    preset: 'alibaba',
    body: { ...openaiError('tool_choice is not supported', { code: 'invalid_parameter_error' }), request_id: 'r' },
    says: 'tool_choice is not supported',
    code: 'invalid_parameter_error',
  },
  {
    vendor: 'MiniMax, the status as a text',
    preset: 'minimax',
    body: {
      type: 'error',
      error: { type: 'bad_request_error', message: 'invalid params, invalid chat setting', http_code: '400' },
    },
    says: 'invalid params, invalid chat setting',
  },
]

/** A prompt beyond the context in the words of a vendor, and how Anthropic's begin that mean the same. */
interface Overflow extends Recorded {
  readonly anthropic?: string
}

const TOO_LONG = 'prompt is too long: '
const P_OVER_L = `${TOO_LONG}150000 tokens > 131072 maximum`
const WITH_ANSWER = 'input length and `max_tokens` exceed context limit: 120000 + 32000 > 131072'

const OVERFLOWS: readonly Overflow[] = [
  {
    vendor: 'OpenAI',
    preset: 'openai',
    body: openaiError('Your input exceeds the context window of this model.', { code: 'context_length_exceeded' }),
  },
  {
    vendor: 'vLLM, of prompt and answer',
    body: {
      object: 'error',
      message:
        "This model's maximum context length is 131072 tokens. However, you requested 152000 tokens (120000 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      code: 400,
    },
    anthropic: WITH_ANSWER,
  },
  {
    vendor: 'vLLM, of the prompt',
    body: {
      object: 'error',
      message:
        "This model's maximum context length is 131072 tokens. However, your request has 150000 input tokens. Please reduce the length of the input messages.",
      code: 400,
    },
    anthropic: P_OVER_L,
  },
  {
    vendor: 'llama.cpp',
    body: {
      error: {
        code: 400,
        message: 'request (150000 tokens) exceeds the available context size (131072 tokens), try increasing it',
        type: 'exceed_context_size_error',
      },
    },
    anthropic: P_OVER_L,
  },
  {
    vendor: 'Mistral',
    preset: 'mistral',
    body: {
      object: 'error',
      message: 'Prompt contains 150000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
      type: 'invalid_request_error',
      code: '3051',
    },
    anthropic: P_OVER_L,
  },
  {
    vendor: 'OpenRouter',
    preset: 'openrouter',
    body: {
      error: {
        code: 400,
        message:
          "This endpoint's maximum context length is 131072 tokens. However, you requested about 152000 tokens (120000 of text input, 32000 in the output). Please reduce the length of either one.",
      },
    },
    anthropic: WITH_ANSWER,
  },
  {
    vendor: 'DeepSeek',
    preset: 'deepseek',
    body: openaiError(
      "This model's maximum context length is 131072 tokens. However, you requested 150000 tokens (150000 in the messages, 0 in the completion).",
      { code: 'invalid_request_error' },
    ),
    anthropic: P_OVER_L,
  },
  {
    vendor: 'Gemini',
    preset: 'gemini',
    body: [
      {
        error: {
          code: 400,
          message: 'The input token count (150000) exceeds the maximum number of tokens allowed (131072).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    anthropic: P_OVER_L,
  },
  {
    vendor: 'xAI',
    preset: 'xai',
    body: {
      code: 'invalid-argument',
      error: "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    },
    anthropic: P_OVER_L,
  },
  { vendor: 'Groq', preset: 'groq', body: openaiError('Please reduce the length of the messages or completion.') },
  {
    vendor: 'Together',
    preset: 'together',
    body: openaiError("Input (150000 tokens) is longer than the model's context length (131072 tokens)."),
    anthropic: P_OVER_L,
  },
  {
    vendor: 'LM Studio',
    body: { error: 'The number of tokens to keep from the initial prompt is greater than the context length' },
  },
  {
    vendor: 'MiniMax',
    preset: 'minimax',
    body: {
      error: { type: 'bad_request_error', message: 'invalid params, context window exceeds limit (2013)', http_code: '400' },
    },
  },
  {
    vendor: 'Kimi',
    preset: 'moonshot',
    body: openaiError('Invalid request: Your request exceeded model token limit: 131072 (requested: 150000)'),
    anthropic: P_OVER_L,
  },
  { vendor: 'Z.ai', preset: 'zai', body: { error: { code: '1261', message: 'Prompt exceeds max length' } } },
  { vendor: 'Ollama', body: openaiError('prompt too long; exceeded max context length by 9 tokens') },
  { vendor: 'Ollama, as its own failure', status: 500, body: openaiError('prompt too long; exceeded max context length') },
  {
    vendor: 'Alibaba',
    preset: 'alibaba',
    body: openaiError('Range of input length should be [1, 129024]', { code: 'invalid_parameter_error' }),
  },
  { vendor: 'Cerebras, without a body', preset: 'cerebras', body: '' },
  { vendor: 'Cerebras, without a body, by 413', preset: 'cerebras', status: 413, body: '' },
]

/** An account without money, in the words of a vendor (read 2026-11-26). */
const EMPTY_ACCOUNTS: readonly Recorded[] = [
  {
    vendor: 'Alibaba, by 400 (github.com/QwenLM/qwen-code/issues/54)',
    preset: 'alibaba',
    body: { error: { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' } },
  },
  {
    vendor: 'Kimi (MoonshotAI, `exceeded_current_quota_error`)',
    preset: 'moonshot',
    status: 429,
    body: {
      error: {
        message: 'Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account',
        type: 'exceeded_current_quota_error',
      },
    },
  },
  {
    vendor: 'xAI (github.com/continuedev/continue/issues/10373)',
    preset: 'xai',
    status: 429,
    body: {
      code: 'Some resource has been exhausted',
      error: 'Your team 16f2 has either used all available credits or reached its monthly spending limit.',
    },
  },
  {
    vendor: 'Z.ai (github.com/zai-org/feedback/issues/789)',
    preset: 'zai',
    status: 429,
    body: { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } },
  },
  {
    vendor: 'Z.ai, in Chinese (github.com/continuedev/continue/issues/11823)',
    preset: 'zai',
    status: 429,
    body: { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } },
  },
  {
    vendor: 'a gateway, by 403 (github.com/Wei-Shaw/sub2api/issues/890)',
    status: 403,
    body: { code: 'INSUFFICIENT_BALANCE', message: 'Insufficient account balance' },
  },
]

/** Words that are alike, of limits of a time. */
const OF_RATE = openaiError('Rate limit reached: the input token count exceeds the maximum number of tokens per minute.')

describe('The errors of vendors', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  const nameOf = ({ preset = 'own' }: Recorded) => preset
  const presets = new Set([...BODIES, ...OVERFLOWS, ...EMPTY_ACCOUNTS].map(nameOf))

  before(async () => {
    upstream = await scriptedUpstream()
    const namespaces = Object.fromEntries(
      [...presets].map((name) => [
        name,
        {
          provider: 'openai-compatible',
          breaker: false,
          config: { baseUrl: `${upstream.origin}/v1`, ...(name !== 'own' && { preset: name }), responses: false },
        },
      ]),
    )
    gateway = await startTestGateway({ routes: { chain: [{ plugin: 'auth' }], namespaces } })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function ask(path: string, recorded: Recorded) {
    const { status = 400, body } = recorded
    upstream.on(() => (body === '' ? reply([], { status }) : json(body, { status })))
    const messages = [{ role: 'user', content: 'Hi' }]
    const answer = await gateway.fetch(path, {
      json: {
        model: `${nameOf(recorded)}/m`,
        max_tokens: 9,
        ...(path === '/v1/responses' ? { input: 'Hi', max_tokens: undefined } : { messages }),
      },
    })
    const { error } = (await answer.json()) as { error: { message: string; code: string | null } }
    return { status: answer.status, retry: answer.headers.get('x-should-retry'), ...error }
  }

  for (const recorded of BODIES) {
    it(`reach the client: ${recorded.vendor}`, async () => {
      const { status, message, code } = await ask('/v1/chat/completions', recorded)
      expect({ status, code }).to.deep.equal({ status: recorded.status ?? 400, code: recorded.code ?? null })
      expect(message).to.contain(recorded.says)
      expect((await ask('/v1/messages', recorded)).message).to.contain(recorded.says)
    })
  }

  for (const recorded of OVERFLOWS) {
    it(`say that the prompt is too long: ${recorded.vendor}`, async () => {
      for (const path of ['/v1/chat/completions', '/v1/responses']) {
        const { status, code } = await ask(path, recorded)
        expect({ status, code }, path).to.deep.equal({
          status: recorded.status === 413 ? 413 : 400,
          code: 'context_length_exceeded',
        })
      }
    })

    it(`say so in Anthropic's words at /v1/messages: ${recorded.vendor}`, async () => {
      const { message } = await ask('/v1/messages', recorded)
      expect(message.slice(0, (recorded.anthropic ?? TOO_LONG).length)).to.equal(recorded.anthropic ?? TOO_LONG)
    })
  }

  for (const recorded of EMPTY_ACCOUNTS) {
    it(`are no rate limit, for which clients would wait, if the account is empty: ${recorded.vendor}`, async () => {
      for (const path of ['/v1/chat/completions', '/v1/responses']) {
        const before = upstream.requests.length
        const { status, code, retry } = await ask(path, recorded)
        expect({ status, code, retry }, path).to.deep.equal({ status: 429, code: 'insufficient_quota', retry: 'false' })
        expect(upstream.requests.length, path).to.equal(before + 1)
      }
    })
  }

  it('of a limit of a time are none of an empty account', async () => {
    const body = openaiError('Rate limit reached for m on tokens per min. Your account has used all tokens of this minute.')
    const { status, code } = await ask('/v1/chat/completions', { vendor: 'a vendor', status: 429, body })
    expect({ status, code }).to.deep.equal({ status: 429, code: 'rate_limit_exceeded' })
  })

  it('of a limit of a time are none of the context', async () => {
    const { code, message } = await ask('/v1/messages', { vendor: 'a vendor', body: OF_RATE })
    expect([code ?? null, message]).to.deep.equal([null, OF_RATE.error.message])
  })
})
