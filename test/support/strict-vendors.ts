import { json, type ReceivedRequest, type Script } from '../../core/testing/kit.ts'
import type { PresetName } from '../../plugins/providers/openai-compatible/presets.ts'

/** A chat completion request, as a vendor reads it. */
type Body = Readonly<Record<string, unknown>> & { readonly messages?: readonly Readonly<Record<string, unknown>>[] }

/** Something that a vendor answers with an error. */
export interface Rule {
  /** What is refused: a member, or several words. */
  readonly what: string
  refuses(body: Body): boolean
  /** Why the gateway still sends it. A test fails once it does not. */
  readonly known?: string
}

/** A vendor that refuses what its documents and its users say that it refuses. */
export interface StrictVendor {
  readonly rules: readonly Rule[]
  /** Its answer to a request with this in it. */
  refusal(what: string): Script
}

/** A member of the top level. */
const member = (what: string): Rule => ({ what, refuses: (body) => what in body })

/** A member of any message. */
const inMessages = (what: string, known?: string): Rule => ({
  what: `messages[].${what}`,
  refuses: ({ messages = [] }) => messages.some((message) => what in message),
  ...(known !== undefined && { known }),
})

const role = (name: string): Rule => ({
  what: `the role ${name}`,
  refuses: ({ messages = [] }) => messages.some((message) => message.role === name),
})

/** A schema for the answer; `but`: of models that follow one. */
const schemas = (but?: RegExp): Rule => ({
  what: 'response_format json_schema',
  refuses: ({ response_format: format, model, tools }) =>
    (format as { type?: unknown } | undefined)?.type === 'json_schema' && (!but?.test(String(model)) || tools !== undefined),
})

const forcedTools: Rule = {
  what: 'tool_choice',
  refuses: ({ tool_choice: choice = 'auto' }) => choice !== 'auto' && choice !== 'none',
}

const severalChoices: Rule = { what: 'n', refuses: ({ n }) => n != null && n !== 1 }

const openaiError = (status: number, message: string): Script =>
  json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, { status })

/**
 * The vendors whose refusals are known, by preset. `WITHOUT_REFUSALS` lists the others.
 */
export const STRICT_VENDORS: Partial<Record<PresetName, StrictVendor>> = {
  // console.groq.com/docs/openai and structured-outputs (read 2026-11-26); github.com/janhq/jan/issues/8136
  groq: {
    rules: [
      schemas(/gpt-oss|llama-4|kimi-k2/),
      ...['store', 'metadata', 'logprobs', 'top_logprobs', 'logit_bias'].map(member),
      severalChoices,
      inMessages('name', 'names of messages are rare, and to find them means to parse all messages'),
      inMessages('reasoning_content'),
    ],
    refusal: (what) => openaiError(400, `property '${what}' is unsupported`),
  },
  // inference-docs.cerebras.ai/resources/openai, as quoted by hexdocs.pm/req_llm/cerebras.html (read 2026-11-26)
  cerebras: {
    rules: [
      ...['frequency_penalty', 'presence_penalty', 'logit_bias', 'parallel_tool_calls', 'service_tier'].map(member),
      inMessages('reasoning_content'),
    ],
    refusal: (what) =>
      json(
        {
          message: `property '${what}' is unsupported`,
          type: 'invalid_request_error',
          param: 'validation_error',
          code: 'wrong_api_format',
        },
        { status: 400 },
      ),
  },
  // github.com/Gitlawb/openclaude/issues/739, github.com/OpenHands/OpenHands/issues/11699 (read 2026-11-26)
  mistral: {
    rules: [
      ...['store', 'metadata', 'max_completion_tokens', 'stream_options'].map(member),
      role('developer'),
      inMessages('reasoning_content'),
    ],
    refusal: (what) =>
      json(
        {
          object: 'error',
          message: { detail: [{ type: 'extra_forbidden', loc: ['body', what], msg: 'Extra inputs are not permitted' }] },
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
        { status: 422 },
      ),
  },
  // github.com/ed-donner/agents/issues/45, github.com/leookun/cursor-byok/issues/112, github.com/MinLL/SkyrimNet-GamePlugin/issues/77,
  // github.com/FuzzAnything/PromptFuzz/issues/42 (read 2026-11-26)
  gemini: {
    rules: ['store', 'metadata', 'prompt_cache_key', 'frequency_penalty', 'top_k', 'web_search_options'].map(member),
    refusal: (what) =>
      json(
        [
          {
            error: {
              code: 400,
              message: `Invalid JSON payload received. Unknown name "${what}": Cannot find field.`,
              status: 'INVALID_ARGUMENT',
            },
          },
        ],
        { status: 400 },
      ),
  },
  // github.com/ChatGPTNextWeb/NextChat/issues/6443 (read 2026-11-26); `stop` is refused by some models only
  xai: {
    rules: ['frequency_penalty', 'presence_penalty'].map(member),
    refusal: (what) =>
      json({ code: 'invalid-argument', error: `This model does not support parameter ${what}.` }, { status: 400 }),
  },
  // github.com/proma-ai/Proma/issues/1496
  alibaba: { rules: [role('developer')], refusal: (what) => openaiError(400, `${what} is not one of ['system', 'assistant']`) },
  // github.com/earendil-works/pi/issues/1048; UKGovernmentBEIS/inspect_ai, issue 4916; deepseek-ai/DeepSeek-V3, issue 1376
  deepseek: {
    rules: [role('developer'), schemas(), forcedTools],
    refusal: (what) => openaiError(422, `unknown variant: ${what}`),
  },
  // github.com/openclaw/openclaw/issues/23115; docs.z.ai/api-reference/llm/chat-completion (read 2026-11-26)
  zai: {
    rules: [role('developer'), schemas(), forcedTools],
    refusal: (what) => json({ error: { code: '1214', message: `Incorrect ${what}` } }, { status: 400 }),
  },
}

/** The presets without a strict vendor: what theirs refuse is not looked up yet. */
export const WITHOUT_REFUSALS: readonly PresetName[] = [
  'openai',
  'baidu',
  'baseten',
  'chutes',
  'coreweave',
  'crusoe',
  'deepinfra',
  'digitalocean',
  'fireworks',
  'friendli',
  'gmi',
  'huggingface',
  'hyperbolic',
  'minimax',
  'moonshot',
  'nebius',
  'novita',
  'nvidia',
  'openrouter',
  'ovhcloud',
  'parasail',
  'perplexity',
  'poe',
  'sambanova',
  'scaleway',
  'siliconflow',
  'together',
  'venice',
  'vercel',
  'volcengine',
  'xiaomi',
  'lm-studio',
  'ollama',
  'sglang',
  'vllm',
]

/** What a strict vendor finds to refuse in a request; undefined if nothing. */
export function refusedBy({ rules }: StrictVendor, request: Pick<ReceivedRequest, 'json'>): Rule | undefined {
  const body = request.json() as Body
  return rules.find((rule) => rule.refuses(body))
}
