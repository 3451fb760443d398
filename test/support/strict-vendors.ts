import { MEMBERS } from '../../core/protocol/members.ts'
import type { ChatTool } from '../../core/sdk/api.ts'
import { json, type ReceivedRequest, type Script } from '../../core/testing/kit.ts'
import type { PresetName } from '../../plugins/providers/openai-compatible/presets.ts'

/** A chat completion request, as a vendor reads it. */
type Body = Readonly<Record<string, unknown>> & { readonly messages?: readonly Readonly<Record<string, unknown>>[] }

/** Something that a vendor answers with an error. */
export interface Rule {
  /** What is refused: a member, or several words. */
  readonly what: string
  refuses(body: Body): boolean
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
const inMessages = (what: string): Rule => ({
  what: `messages[].${what}`,
  refuses: ({ messages = [] }) => messages.some((message) => what in message),
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

/** The models of the vendor think unless they are told not to. */
const forcedToolsWhileThinking: Rule = {
  what: 'tool_choice',
  refuses: (body) => forcedTools.refuses(body) && (body.thinking as { type?: unknown } | undefined)?.type !== 'disabled',
}

const severalChoices: Rule = { what: 'n', refuses: ({ n }) => n != null && n !== 1 }

/** Members of other vendors' that clients send to all. */
const OF_OTHERS = ['thinking', 'reasoning', 'enable_thinking', 'top_k', 'min_p', 'repetition_penalty']

/** Each member of OpenAI's and of others' that the vendor's schema, which takes no others, does not list. */
const membersBut = (listed: string): readonly Rule[] =>
  [...Object.keys(MEMBERS['chat.completions'].top), ...OF_OTHERS]
    .filter((name) => !listed.split(/\s+/).includes(name))
    .map(member)

/** Text in the content of a message. */
const hasText = ({ content }: Readonly<Record<string, unknown>>): boolean =>
  typeof content === 'string' ? content !== '' : Array.isArray(content) && content.length > 0

const rule = (what: string, refuses: Rule['refuses']): Rule => ({ what, refuses })

const isInstruction = ({ role }: Readonly<Record<string, unknown>>): boolean => role === 'system' || role === 'developer'

const oneSystemMessage = rule('several system messages, or a later one', ({ messages = [] }) =>
  messages.slice(1).some(isInstruction),
)

const pictures = (body: Body): boolean =>
  (body.messages ?? []).some(
    ({ role: name, content, images }) =>
      name === 'assistant' && (images !== undefined || JSON.stringify(content ?? '').includes('image_url')),
  )

/** "Image URLs are only allowed for messages with role 'user'": github.com/openai/openai-node/issues/1030 */
const madePictures = rule('pictures of the assistant', pictures)

/**
 * Members of OpenAI's answers, which vendors with closed schemas of messages do not list: Mistral (BerriAI/litellm, issue 30882), Groq
 * (github.com/groq/groq-python, ChatCompletionAssistantMessageParam), Cerebras (github.com/Cerebras/cerebras-cloud-sdk-python,
 * MessageAssistantMessageRequestTyped). Read 2026-11-26.
 */
const OF_ANSWERS = ['refusal', 'annotations', 'audio']

/** Which roles may follow one: github.com/mistralai/mistral-common, protocol/instruct/validator.py; BerriAI/litellm, issue 17761 (read 2026-11-26). */
const MISTRAL_ORDER: Readonly<Record<string, readonly string[]>> = {
  system: ['user', 'assistant', 'system'],
  user: ['assistant', 'system', 'user'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
}

const openaiError = (status: number, message: string): Script =>
  json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, { status })

/** FastAPI's error for a body that does not fit its model. */
const fastApiError = (status: number, what: string): Script =>
  json({ detail: [{ type: 'extra_forbidden', loc: ['body', what], msg: 'Extra inputs are not permitted' }] }, { status })

/**
 * The vendors whose refusals are documented or reported, by preset. `WITHOUT_REFUSALS` has the others.
 */
export const STRICT_VENDORS: Partial<Record<PresetName, StrictVendor>> = {
  // github.com/nashsu/llm_wiki/issues/336, github.com/teabranch/open-responses-server/issues/41, github.com/openai/openai-node/issues/1030
  openai: {
    rules: [
      ...['thinking', 'reasoning', 'enable_thinking', 'top_k', 'min_p', 'repetition_penalty'].map(member),
      ...['reasoning', 'reasoning_content', 'reasoning_details'].map(inMessages),
      madePictures,
    ],
    refusal: (what) => openaiError(400, `Unrecognized request argument supplied: ${what}`),
  },
  // docs.baseten.co/reference/inference-api/llm-openapi-spec.json, by github.com/api-evangelist/baseten (read 2026-11-26). `reasoning_effort` is
  // documented on other pages of Baseten.
  baseten: {
    rules: [
      ...membersBut(
        `messages model frequency_penalty logit_bias logprobs top_logprobs max_tokens n presence_penalty response_format seed stop stream
        stream_options temperature top_p tools tool_choice parallel_tool_calls user reasoning_effort ${OF_OTHERS.join(' ')}`,
      ),
      severalChoices,
      role('developer'),
    ],
    refusal: (what) => fastApiError(422, what),
  },
  // github.com/earendil-works/pi, openai-completions.ts, `detectCompat` (read 2026-11-26): what its authors found refused
  chutes: { rules: [role('developer'), member('max_completion_tokens')], refusal: (what) => fastApiError(422, what) },
  // can1357/oh-my-pi, issue 1077; UKGovernmentBEIS/inspect_ai, pull 5152: "tool_choice 'specified' is incompatible with thinking enabled";
  // HKUDS/nanobot, issue 3939: "cannot specify both 'thinking' and 'reasoning_effort'" (read 2026-11-26)
  moonshot: {
    rules: [
      role('developer'),
      member('max_completion_tokens'),
      rule('tool_choice', (body) => String(body.model).includes('kimi-k2.6') && forcedToolsWhileThinking.refuses(body)),
      rule('tool_choice', (body) => String(body.model).includes('kimi-k3') && typeof body.tool_choice === 'object'),
      rule('thinking', ({ thinking, model }) => thinking != null && String(model).includes('kimi-k3')),
      rule('thinking with reasoning_effort', ({ thinking, reasoning_effort: effort }) => thinking != null && effort != null),
    ],
    refusal: (what) => openaiError(400, `invalid ${what}`),
  },
  together: {
    rules: [role('developer'), member('max_completion_tokens')],
    refusal: (what) => openaiError(422, `invalid ${what}`),
  },
  // docs.deepinfra.com/api-reference/openai-chat-completions-1: four roles, and 422 with a list of details (read 2026-11-26)
  deepinfra: { rules: [role('developer')], refusal: (what) => fastApiError(422, what) },
  // docs.sambanova.ai/docs/api-reference/chat-completions: four roles; penalties are "accepted for API compatibility" (read 2026-11-26)
  sambanova: { rules: [role('developer')], refusal: (what) => openaiError(400, `invalid ${what}`) },
  // docs.siliconflow.cn/cn/api-reference/chat-completions (read 2026-11-26)
  siliconflow: {
    rules: [role('developer'), member('enable_thinking')],
    refusal: (what) => json({ code: 20015, message: `The parameter is invalid: ${what}`, data: null }, { status: 400 }),
  },
  // github.com/earendil-works/pi/issues/4514, github.com/web-infra-dev/midscene/issues/1322 (read 2026-11-26)
  fireworks: {
    rules: [
      ...['reasoning', 'reasoning_details'].map(inMessages),
      rule('thinking with reasoning_effort', ({ thinking, reasoning_effort: effort }) => thinking != null && effort != null),
    ],
    refusal: (what) => openaiError(400, `Extra inputs are not permitted, field: '${what}'`),
  },
  // github.com/MiniMax-AI/MiniMax-M2/issues/51, github.com/can1357/oh-my-pi/pull/954, github.com/BigPizzaV3/CodexPlusPlus/issues/267
  minimax: {
    rules: [oneSystemMessage, role('developer')],
    refusal: () =>
      json(
        {
          type: 'error',
          error: { type: 'bad_request_error', message: 'invalid params, invalid chat setting (2013)', http_code: '400' },
        },
        { status: 400 },
      ),
  },
  // github.com/sipeed/picoclaw/issues/1019, github.com/NVIDIA/garak/issues/748, can1357/oh-my-pi#2299 (read 2026-11-26)
  nvidia: {
    rules: [
      ...[
        'prompt_cache_key',
        'store',
        'metadata',
        'safety_identifier',
        'reasoning',
        'enable_thinking',
        'max_completion_tokens',
      ].map(member),
      ...['reasoning', 'reasoning_details'].map(inMessages),
      role('developer'),
      rule('reasoning_budget', ({ model, reasoning_budget: budget }) => budget != null && !String(model).includes('nemotron-3')),
    ],
    refusal: (what) =>
      json({ message: `Validation: Unsupported parameter(s): ${what}`, type: 'Bad Request', code: 400 }, { status: 400 }),
  },
  // openrouter.ai/docs/api-reference/parameters: it leaves out what a model does not take. Not so a switch that a model does not have: elie222/rakazo,
  // issue 114; Kilo-Org/kilocode, issue 11751; musistudio/claude-code-router, issue 1215 (read 2026-11-26)
  openrouter: {
    rules: [
      rule(
        'Reasoning is mandatory for this endpoint and cannot be disabled.',
        ({ model, reasoning_effort: effort }) => /gemini-|minimax-m2/.test(String(model)) && effort === 'none',
      ),
    ],
    refusal: (what) => json({ error: { code: 400, message: what, metadata: {} }, user_id: 'user_1' }, { status: 400 }),
  },
  // github.com/perplexityai/api-discussion/issues/265 (read 2026-11-26)
  perplexity: {
    rules: [
      rule('roles that do not alternate', ({ messages = [] }) => {
        const turns = messages.slice(messages.findIndex((message) => !isInstruction(message)))
        return turns.some((message, index) => isInstruction(message) || message.role === turns[index - 1]?.role)
      }),
      role('developer'),
      member('stream_options'),
    ],
    refusal: () =>
      json(
        {
          error: {
            message: 'After the (optional) system message(s), user and assistant roles should be alternating.',
            type: 'invalid_message',
            code: 400,
          },
        },
        { status: 400 },
      ),
  },
  // github.com/jekalmin/extended_openai_conversation/issues/284; github.com/veniceai/api-docs, swagger.yaml (of 2026-08-22, read 2026-11-26)
  venice: {
    rules: membersBut(
      `messages model frequency_penalty logprobs top_logprobs max_completion_tokens max_tokens n presence_penalty prompt_cache_key
      prompt_cache_retention reasoning_effort seed stop stream stream_options temperature top_p user store verbosity metadata
      parallel_tool_calls response_format tool_choice tools ${OF_OTHERS.join(' ')}`,
    ),
    refusal: (what) =>
      json(
        { error: 'Invalid request parameters', details: { _errors: [`Unrecognized key(s) in object: '${what}'`] } },
        { status: 400 },
      ),
  },
  // platform.xiaomimimo.com/docs/en-US/usage-guide/passing-back-reasoning_content; github.com/XiaomiMiMo/MiMo/issues/44,
  // github.com/NousResearch/hermes-agent/pull/37841 (read 2026-11-26)
  xiaomi: {
    rules: [
      rule('`text` is not set', ({ messages = [] }) =>
        messages.some((message) => message.role !== 'system' && !hasText(message)),
      ),
      rule('parts of a result', ({ messages = [] }) =>
        messages.some(({ role: name, content }) => name === 'tool' && Array.isArray(content)),
      ),
      rule('The reasoning_content in the thinking mode must be passed back to the API.', ({ messages = [] }) =>
        messages.some((message) => message.role === 'assistant' && !message.reasoning_content),
      ),
    ],
    refusal: (what) => json({ error: { code: '400', message: 'Param Incorrect', param: what, type: '' } }, { status: 400 }),
  },
  // github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670, github.com/t59688/arboris-novel/issues/23, lmstudio-ai/lms#537 (read 2026-11-26)
  'lm-studio': {
    rules: [
      rule("Invalid tool_choice type: 'object'", ({ tool_choice: choice }) => typeof choice === 'object' && choice !== null),
      rule("'response_format.type' must be 'json_schema' or 'text'", (body) => JSON.stringify(body).includes('json_object')),
      rule('tools without parameters', ({ tools }) => ((tools ?? []) as readonly ChatTool[]).some(lacksParameters)),
    ],
    refusal: (what) => json({ error: what }, { status: 400 }),
  },
  // github.com/vllm-project/vllm, entrypoints/openai/chat_completion/protocol.py: unknown members are only logged (read 2026-11-26)
  vllm: {
    rules: [
      rule('an empty list of tools', ({ tools }) => Array.isArray(tools) && tools.length === 0),
      rule(
        '`tool_choice` without tools',
        ({ tools, tool_choice: choice }) => choice != null && choice !== 'none' && tools == null,
      ),
      member('thinking_token_budget'), // "is set but reasoning_config is not configured", unless the server is started for it
    ],
    refusal: (what) => json({ object: 'error', message: what, type: 'BadRequestError', param: null, code: 400 }, { status: 400 }),
  },
  // console.groq.com/docs/openai and structured-outputs (read 2026-11-26); github.com/groq/groq-python, CompletionCreateParams (of 2026-08-18);
  // github.com/eigent-ai/eigent/issues/1827, github.com/CherryHQ/cherry-studio/issues/11435, github.com/janhq/jan/issues/8136
  groq: {
    rules: [
      schemas(/gpt-oss|llama-4|kimi-k2/),
      ...membersBut(
        `messages model frequency_penalty function_call functions max_completion_tokens max_tokens n parallel_tool_calls presence_penalty
        reasoning_effort response_format seed service_tier stop stream stream_options temperature tool_choice tools top_p user`,
      ),
      severalChoices,
      inMessages('name'),
      madePictures,
      ...['reasoning_content', ...OF_ANSWERS].map(inMessages),
    ],
    refusal: (what) => openaiError(400, `property '${what}' is unsupported`),
  },
  // inference-docs.cerebras.ai/resources/openai, as quoted by hexdocs.pm/req_llm/cerebras.html (read 2026-11-26);
  // github.com/Cerebras/cerebras-cloud-sdk-python, CompletionCreateParams (of 2026-01-06)
  cerebras: {
    rules: [
      ...membersBut(
        `messages model logprobs max_completion_tokens max_tokens n prediction reasoning_effort response_format seed stop stream
        stream_options temperature tool_choice tools top_logprobs top_p user`,
      ),
      ...['reasoning_content', ...OF_ANSWERS].map(inMessages),
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
  // github.com/mistralai/client-python, ChatCompletionRequest; github.com/michelle-avery/openai-compatible-conversation/issues/26,
  // github.com/Vali-98/ChatterUI/issues/143, github.com/Gitlawb/openclaude/issues/739, github.com/OpenHands/OpenHands/issues/11699 (read 2026-11-26)
  mistral: {
    rules: [
      ...membersBut(
        `messages model frequency_penalty max_tokens n parallel_tool_calls prediction presence_penalty prompt_cache_key reasoning_effort
        response_format stop stream temperature tool_choice tools top_p`,
      ),
      role('developer'),
      ...['reasoning_content', 'function_call', ...OF_ANSWERS].map(inMessages),
      rule('Expected last role User or Tool (or Assistant with prefix True)', ({ messages = [] }) => {
        const last = messages.at(-1)
        return last?.role === 'assistant' && last.prefix !== true
      }),
      rule('Assistant message must have either content or tool_calls', ({ messages = [] }) =>
        messages.some((message) => message.role === 'assistant' && !hasText(message) && message.tool_calls === undefined),
      ),
      rule('Unexpected role', ({ messages = [] }) =>
        messages.some(
          ({ role: name }, index) => index > 0 && !MISTRAL_ORDER[String(messages[index - 1]!.role)]?.includes(String(name)),
        ),
      ),
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
  // github.com/proma-ai/Proma/issues/1496; cloudwego/eino, issue 994 (read 2026-11-26)
  alibaba: {
    rules: [
      role('developer'),
      rule(
        'tool_choice',
        (body) => String(body.model).startsWith('qwen3.') && forcedTools.refuses(body) && body.enable_thinking !== false,
      ),
    ],
    refusal: (what) => openaiError(400, `${what} is not one of ['system', 'assistant']`),
  },
  // github.com/earendil-works/pi/issues/1048; UKGovernmentBEIS/inspect_ai, issue 4916; deepseek-ai/DeepSeek-V3, issue 1376
  deepseek: {
    rules: [role('developer'), schemas(), forcedToolsWhileThinking],
    refusal: (what) => openaiError(422, `unknown variant: ${what}`),
  },
  // github.com/openclaw/openclaw/issues/23115; docs.z.ai/api-reference/llm/chat-completion (read 2026-11-26)
  zai: {
    rules: [role('developer'), schemas(), forcedTools],
    refusal: (what) => json({ error: { code: '1214', message: `Incorrect ${what}` } }, { status: 400 }),
  },
}

/** A preset whose vendor is known to refuse nothing that the gateway could change. */
export interface Lenient {
  /** What is known of it. */
  readonly reason: string
  /** The page or the thread that says it, read on 2026-11-26. */
  readonly source: string
}

const HOSTED = 'it hosts open models on servers that ignore what they do not know; no refusal is documented or reported'

/** The other presets: why they need no strict vendor. */
export const WITHOUT_REFUSALS: Partial<Record<PresetName, Lenient>> = {
  baidu: { reason: 'no refusal is documented or reported', source: 'https://github.com/vercel/ai/tree/main/packages/baidu' },
  coreweave: { reason: HOSTED, source: 'https://docs.coreweave.com/products/inference/serverless' },
  crusoe: { reason: HOSTED, source: 'https://docs.crusoecloud.com/quickstart/getting-started-with-serverless-inference' },
  digitalocean: {
    reason: 'it lists all roles, `developer` too, and both names of the limit; no refusal is documented or reported',
    source: 'https://docs.digitalocean.com/products/inference/how-to/use-chat-completions-api/',
  },
  friendli: { reason: HOSTED, source: 'https://friendli.ai/docs/openapi/create-chat-completions' },
  gmi: { reason: HOSTED, source: 'https://github.com/GMISWE' },
  huggingface: {
    reason: 'it passes the request to the fastest of several vendors: what is refused changes from call to call',
    source: 'https://github.com/openclaw/openclaw/issues/129797',
  },
  hyperbolic: { reason: HOSTED, source: 'https://docs.litellm.ai/docs/providers/hyperbolic' },
  nebius: {
    reason: 'it lists `store` and `service_tier` too, and takes members of vLLM',
    source: 'https://docs.tokenfactory.nebius.com/api-reference/inference/create-chat-completion',
  },
  novita: { reason: HOSTED, source: 'https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion' },
  ovhcloud: { reason: HOSTED, source: 'https://docs.ovhcloud.com/en/guides/public-cloud/ai-machine-learning' },
  parasail: { reason: HOSTED, source: 'https://github.com/vercel/ai/tree/main/packages/parasail' },
  poe: {
    reason: 'no refusal is documented or reported; calls of tools fail without an error',
    source: 'https://creator.poe.com/docs/external-applications/openai-compatible-api',
  },
  scaleway: {
    reason: 'it lists members that have no effect (`frequency_penalty`, `n`, `logit_bias`, `user`), and no error for them',
    source: 'https://www.scaleway.com/en/docs/generative-apis/api-cli/using-chat-api/',
  },
  vercel: {
    reason: 'it translates the request for the vendor that it picks',
    source: 'https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions',
  },
  volcengine: {
    reason: 'of what a client may send it refuses an effort of a model whose thinking is off, which differs by model',
    source: 'https://github.com/anomalyco/models.dev/pull/5645',
  },
  ollama: {
    reason: 'members that are not in its struct have no effect; addresses of pictures, which it refuses, cannot be fetched here',
    source: 'https://github.com/ollama/ollama/blob/main/openai/openai.go',
  },
  sglang: {
    reason: 'unknown members are ignored, and each effort is known',
    source: 'https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/protocol.py',
  },
}

/** Of a function; the Responses API has its tools in another form. */
function lacksParameters(tool: ChatTool): boolean {
  if (tool.type !== 'function' || tool.function === undefined) return false
  const { type, properties } = tool.function.parameters ?? {}
  return type !== 'object' || properties === undefined
}

/** What a strict vendor finds to refuse in a request; undefined if nothing. */
export function refusedBy({ rules }: StrictVendor, request: Pick<ReceivedRequest, 'json'>): Rule | undefined {
  const body = request.json() as Body
  return rules.find((rule) => rule.refuses(body))
}
