import { type CapName, dropped, refused } from 'unified-model-gateway/plugin'
import {
  BUDGETS_OF_GEMINI,
  BUDGETS_OF_QWEN,
  type FactsTable,
  FORMATS_OF_GROQ,
  FORMATS_WITHOUT_TOOLS,
  IGNORES_EFFORT,
  MARKS_OF_CLAUDE,
  OBJECTS_ONLY,
  REASONERS_OF_OPENROUTER,
  SCHEMAS_OF_OPENAI,
  TAKES_BUDGET,
  THINKERS_OF_FIREWORKS,
  THINKERS_OF_NVIDIA,
  THINKERS_OF_SILICONFLOW,
} from './facts.ts'
import type { HistoryKind } from './history.ts'
import { emptyOverflow, googleError } from './quirks/errors.ts'
import type { Quirk } from './quirks/quirk.ts'
import { cachedTokens, finishReasons, thinkingParts, uncountedReasoning, usageInsideChunks } from './quirks/replies.ts'
import {
  alternatingRoles,
  autoToolChoice,
  developerRole,
  filledContent,
  forcedToolsOfKimi,
  forcedToolsOfQwen,
  forcedToolsWithoutThinking,
  googleThinking,
  maxTokens,
  mistralOrder,
  noEmptyTools,
  noMessageNames,
  noStreamOptions,
  oneSystemMessage,
  plainAnswers,
  randomSeed,
  typedTools,
  wordsOfToolChoice,
} from './quirks/requests.ts'
import { toolCallParts, toolFinish } from './quirks/tool-calls.ts'
import { shortToolIds } from './quirks/tool-ids.ts'
import type { UnsupportedMembers } from './unsupported.ts'

/** The facts about one vendor. docs/presets.md has the same table, and a test compares them. */
export interface Preset {
  readonly baseUrl: string
  /** The usual environment variable of its key, for the docs. Absent: a local server without a key. */
  readonly keyVariable?: string
  /**
   * The vendor has OpenAI's Responses API, and keeps responses or refuses to refer to them: some ignore `previous_response_id`, which gives wrong
   * answers.
   */
  readonly responses?: true
  /** Its Responses API also compacts conversations and counts the tokens of prompts. */
  readonly compacts?: true
  /** By which parameter of chat completions the vendor takes the most tokens of an answer. Absent: `max_tokens`. */
  readonly cap?: CapName
  /** What its models take, before the facts that hold for all upstreams. */
  readonly facts?: FactsTable
  /** The members of chat completions that the vendor refuses, and would answer with an error. */
  readonly unsupported?: UnsupportedMembers
  /** What the vendor takes back of the reasoning in earlier answers. Absent: `as-sent`. */
  readonly history?: HistoryKind
  /** The names of tools that the vendor takes. Absent: any, as far as is known. */
  readonly toolNames?: RegExp
  /** It takes custom tools, and functions in the way before tools. Absent: it gets them as function tools, which all vendors take. */
  readonly allToolForms?: true
  /** It takes the pictures of earlier answers, as `images` of the assistant's messages. */
  readonly pictures?: true
  /** Without any, replies reach the client byte for byte. */
  readonly quirks: readonly Quirk[]
  /** The page that states the base URL. */
  readonly source: string
}

const OVERLOADED = { status: 503 }

/**
 * OpenAI's rule (platform.openai.com, "Function calling", read 2026-11-26), which others have too: DeepSeek (github.com/zed-industries/zed, issue 57531),
 * Mistral (github.com/Kochava-Studios/witsy, pull request 164).
 */
export const NAMES_OF_OPENAI = /^[a-zA-Z0-9_-]{1,64}$/

const NO_LOGPROBS = refused('This vendor gives no log probabilities.')
const NO_BIASES = refused('This vendor takes no logit biases.')
const ONE_CHOICE = refused('This vendor gives one choice a call; call it several times.')
const NO_SOUND = refused('This vendor gives text only.')

/** What OpenAI's clients send for its dashboard and its caches. */
const LABELS = 'store metadata prompt_cache_key prompt_cache_retention prompt_cache_options safety_identifier'
const NO_SOUND_NOR_SEARCH: UnsupportedMembers = {
  modalities: NO_SOUND,
  audio: NO_SOUND,
  web_search_options: refused('This vendor does not search the web.'),
}

/** Members that a vendor refuses, and that change nothing in what was asked for. */
const dropping = (names: string): UnsupportedMembers => Object.fromEntries(names.split(' ').map((name) => [name, dropped]))

/** The members of OpenAI's, and of other vendors', that a vendor may lack. Those that quirks and facts adapt are not among them. */
const OPTIONAL: UnsupportedMembers = {
  ...dropping(`${LABELS} service_tier verbosity prediction user seed parallel_tool_calls frequency_penalty presence_penalty`),
  ...dropping('thinking reasoning enable_thinking top_k min_p repetition_penalty'),
  logprobs: NO_LOGPROBS,
  top_logprobs: NO_LOGPROBS,
  logit_bias: NO_BIASES,
  n: ONE_CHOICE,
  moderation: refused('This vendor does not moderate.'),
  ...NO_SOUND_NOR_SEARCH,
}

/** What a vendor refuses that answers with an error to any member that its schema does not list. `listed`: those of `OPTIONAL` that it takes. */
function allBut(listed: string): UnsupportedMembers {
  const taken = listed.split(' ')
  return Object.fromEntries(Object.entries(OPTIONAL).filter(([name]) => !taken.includes(name)))
}

/** The vendors of `preset`, by name. The source of each quirk is in a comment; "recorded": a real reply of the vendor. */
export const PRESETS = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    responses: true, // platform.openai.com/docs/api-reference/responses
    compacts: true, // openai-node 7.55, `responses.compact`, `responses.inputTokens.count`
    cap: 'max_completion_tokens', // GPT-5 and later refuse max_tokens: github.com/decolua/9router/issues/560
    facts: SCHEMAS_OF_OPENAI,
    history: 'none', // shows no reasoning in chat completions, and refuses members that it does not know
    toolNames: NAMES_OF_OPENAI,
    allToolForms: true, // platform.openai.com/docs/api-reference/chat/create
    unsupported: {
      // "Unrecognized request argument supplied", "Unknown parameter": github.com/nashsu/llm_wiki/issues/336, teabranch/open-responses-server/issues/41
      ...dropping('thinking reasoning enable_thinking'),
      ...dropping('top_k min_p repetition_penalty'), // of other vendors only: platform.openai.com/docs/api-reference/chat/create
    },
    quirks: [],
    source: 'https://platform.openai.com/docs/api-reference/introduction',
  },
  alibaba: {
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keyVariable: 'DASHSCOPE_API_KEY',
    facts: BUDGETS_OF_QWEN, // `thinking_budget`, `enable_thinking`: alibabacloud.com/help/en/model-studio/deep-thinking
    history: 'reasoning-content', // ignores that of earlier turns: alibabacloud.com/help/en/model-studio/deep-thinking
    quirks: [
      developerRole, // "developer is not one of ['system', 'assistant', …]": github.com/proma-ai/Proma/issues/1496
      forcedToolsOfQwen, // "does not support being set to required or object in thinking mode": cloudwego/eino, issue 994
      toolCallParts, // recorded: later parts have id ""
    ],
    source: 'https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope',
  },
  baidu: {
    baseUrl: 'https://qianfan.baidubce.com/v2',
    keyVariable: 'BAIDU_API_KEY',
    quirks: [],
    source: 'https://github.com/vercel/ai/tree/main/packages/baidu',
  },
  baseten: {
    baseUrl: 'https://inference.baseten.co/v1',
    keyVariable: 'BASETEN_API_KEY',
    // docs.baseten.co/reference/inference-api/llm-openapi-spec.json has `additionalProperties: false` (read 2026-11-26), and one choice only. It is not
    // known for members of other vendors.
    unsupported: allBut(
      'frequency_penalty logit_bias logprobs top_logprobs presence_penalty seed parallel_tool_calls user thinking reasoning enable_thinking top_k min_p repetition_penalty',
    ),
    quirks: [
      developerRole, // roles are system, user, assistant and tool: docs.baseten.co/reference/inference-api/chat-completions
      maxTokens, // the other name is not in the schema above
    ],
    source: 'https://ai-sdk.dev/providers/ai-sdk-providers/baseten',
  },
  cerebras: {
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariable: 'CEREBRAS_API_KEY',
    cap: 'max_completion_tokens', // inference-docs.cerebras.ai/api-reference/chat-completions
    // "property '…' is unsupported": inference-docs.cerebras.ai/resources/openai, "Currently unsupported OpenAI features", which also has penalties, biases,
    // tiers and `parallel_tool_calls`; the others: github.com/Cerebras/cerebras-cloud-sdk-python, CompletionCreateParams (of 2026-01-06); Empryo#209
    unsupported: allBut('logprobs top_logprobs n prediction seed user'),
    history: 'reasoning', // `reasoning_content` is "unsupported": github.com/HKUDS/OpenHarness/pull/263 (2026-05-15)
    quirks: [
      plainAnswers, // github.com/Cerebras/cerebras-cloud-sdk-python, CompletionCreateParams (of 2026-01-06): members of messages
      developerRole, // not among its roles: inference-docs.cerebras.ai/api-reference/chat-completions
      emptyOverflow, // github.com/earendil-works/pi, overflow.ts
    ],
    source: 'https://inference-docs.cerebras.ai/resources/openai',
  },
  chutes: {
    baseUrl: 'https://llm.chutes.ai/v1',
    keyVariable: 'CHUTES_API_KEY',
    quirks: [
      developerRole, // github.com/earendil-works/pi, openai-completions.ts, `detectCompat`
      maxTokens, // the same
    ],
    source: 'https://chutes.ai/agents/langchain',
  },
  coreweave: {
    baseUrl: 'https://api.inference.wandb.ai/v1',
    keyVariable: 'WANDB_API_KEY',
    quirks: [],
    source: 'https://docs.coreweave.com/products/inference/serverless',
  },
  crusoe: {
    baseUrl: 'https://api.inference.crusoecloud.com/v1',
    keyVariable: 'CRUSOE_API_KEY',
    quirks: [],
    source: 'https://docs.crusoecloud.com/quickstart/getting-started-with-serverless-inference',
  },
  deepinfra: {
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    keyVariable: 'DEEPINFRA_API_KEY',
    quirks: [
      developerRole, // roles are tool, assistant, user and system, else 422: docs.deepinfra.com/api-reference/openai-chat-completions-1
      maxTokens, // the other name is not among its parameters: docs.deepinfra.com/chat/overview
    ],
    source: 'https://github.com/vercel/ai/tree/main/packages/deepinfra',
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com',
    keyVariable: 'DEEPSEEK_API_KEY',
    // Other levels are mapped to its own: api-docs.deepseek.com, "Thinking mode". "This response_format type is unavailable now": UKGovernmentBEIS/inspect_ai,
    // issue 4916 (2026-08-17). "Thinking mode does not support this tool_choice": deepseek-ai/DeepSeek-V3, issue 1376 (2026-08-21).
    facts: { '*': { ...IGNORES_EFFORT['*'], ...OBJECTS_ONLY['*'] } },
    history: 'required-reasoning-content', // "must be passed back to the API": api-docs.deepseek.com/guides/thinking_mode
    toolNames: NAMES_OF_OPENAI,
    quirks: [
      developerRole, // "unknown variant `developer`": github.com/earendil-works/pi/issues/1048
      maxTokens, // the other name is ignored: github.com/earendil-works/pi/issues/8018
      forcedToolsWithoutThinking, // "Thinking mode does not support this tool_choice": deepseek-ai/DeepSeek-V3, issue 1376 (2026-08-21)
      usageInsideChunks, // recorded: in the chunk that finishes
      finishReasons({ insufficient_system_resource: OVERLOADED }), // api-docs.deepseek.com/api/create-chat-completion
    ],
    source: 'https://api-docs.deepseek.com/',
  },
  digitalocean: {
    baseUrl: 'https://inference.do-ai.run/v1',
    keyVariable: 'MODEL_ACCESS_KEY',
    quirks: [],
    source: 'https://digitalocean.com/community/tutorials/migrating-from-openai-api-to-do-serverless-inference',
  },
  fireworks: {
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyVariable: 'FIREWORKS_API_KEY',
    responses: true, // docs.fireworks.ai/guides/response-api
    facts: THINKERS_OF_FIREWORKS,
    // `reasoning_content` "must" come back with the results of tools: docs.fireworks.ai/guides/reasoning (read 2026-11-26). "Extra inputs are not
    // permitted, field: 'messages[8].reasoning'": github.com/earendil-works/pi/issues/4514
    history: 'reasoning-content',
    quirks: [],
    source: 'https://github.com/vercel/ai/tree/main/packages/fireworks',
  },
  friendli: {
    baseUrl: 'https://api.friendli.ai/serverless/v1',
    keyVariable: 'FRIENDLI_TOKEN',
    quirks: [],
    source: 'https://friendli.ai/docs/guides/serverless_endpoints/introduction',
  },
  gemini: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    facts: BUDGETS_OF_GEMINI,
    unsupported: {
      // 'Unknown name "store": Cannot find field.', and so for the others
      store: dropped, // github.com/ed-donner/agents/issues/45
      metadata: dropped,
      prompt_cache_key: dropped, // github.com/leookun/cursor-byok/issues/112
      frequency_penalty: dropped, // github.com/MinLL/SkyrimNet-GamePlugin/issues/77
      top_k: dropped,
      reasoning: dropped,
      web_search_options: refused('This address of Google does not search the web.'), // github.com/FuzzAnything/PromptFuzz/issues/42
    },
    history: 'thought-signatures', // "missing a thought_signature": ai.google.dev/gemini-api/docs/thought-signatures
    toolNames: /^[A-Za-z_][\w.:-]{0,63}$/, // "Invalid function name": github.com/AstrBotDevs/AstrBot/issues/5416
    quirks: [
      googleThinking, // `extra_body.google.thinking_config`: ai.google.dev/gemini-api/docs/openai; discuss.ai.google.dev/t/87141 (read 2026-11-26)
      googleError, // github.com/Simpleyyt/ai-manus/issues/101
      toolCallParts, // no index: github.com/THU-MAIC/OpenMAIC/issues/1556
      toolFinish, // github.com/googleapis/python-genai/issues/2868
    ],
    source: 'https://ai.google.dev/gemini-api/docs/openai',
  },
  gmi: {
    baseUrl: 'https://api.gmi-serving.com/v1',
    keyVariable: 'GMI_API_KEY',
    quirks: [],
    source: 'https://github.com/GMISWE',
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    cap: 'max_completion_tokens', // console.groq.com/docs/api-reference: max_tokens is deprecated
    // "property 'prompt_cache_key' is unsupported" (github.com/eigent-ai/eigent/issues/1827, 2026-07-28), `verbosity` (CherryHQ/cherry-studio, issue
    // 11435), `store` (janhq/jan, issue 8136); "Currently unsupported OpenAI features": console.groq.com/docs/openai. It takes what github.com/groq/groq-python
    // lists, CompletionCreateParams (of 2026-08-18).
    unsupported: allBut('frequency_penalty presence_penalty parallel_tool_calls seed service_tier user'),
    // console.groq.com/docs/structured-outputs; "This model does not support response format `json_schema`": plune-ai/cairn, pull 36 (2026-06-13);
    // beside tools: pydantic/pydantic-ai, pull 3858 (2025-12)
    facts: FORMATS_OF_GROQ,
    history: 'none', // "property 'reasoning_content' is unsupported": github.com/janhq/jan/issues/8136; `reasoning` of models that do not reason: karthink/gptel#774
    quirks: [
      plainAnswers, // github.com/groq/groq-python, ChatCompletionAssistantMessageParam (read 2026-11-26)
      noMessageNames, // "property 'name' is unsupported": console.groq.com/docs/openai, `messages[].name`
      usageInsideChunks, // recorded (github.com/vercel/ai, packages/groq): in the chunk that finishes
    ],
    source: 'https://console.groq.com/docs/openai',
  },
  huggingface: {
    baseUrl: 'https://router.huggingface.co/v1',
    keyVariable: 'HF_TOKEN',
    quirks: [],
    source: 'https://github.com/vercel/ai/tree/main/packages/huggingface',
  },
  hyperbolic: {
    baseUrl: 'https://api.hyperbolic.xyz/v1',
    keyVariable: 'HYPERBOLIC_API_KEY',
    quirks: [],
    source: 'https://docs.litellm.ai/docs/providers/hyperbolic',
  },
  minimax: {
    baseUrl: 'https://api.minimax.io/v1',
    keyVariable: 'MINIMAX_API_KEY',
    cap: 'max_completion_tokens', // platform.minimax.io/docs/api-reference/text-openai-api
    history: 'minimax-details', // platform.minimax.io/docs/api-reference/text-openai-api
    quirks: [
      developerRole, // made one message with the instructions
      oneSystemMessage, // "invalid chat setting (2013)": github.com/MiniMax-AI/MiniMax-M2/issues/51, can1357/oh-my-pi/pull/954
    ],
    source: 'https://platform.minimax.io/docs/api-reference/text-openai-api',
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    // "extra_forbidden", "Extra inputs are not permitted": `user` (github.com/michelle-avery/openai-compatible-conversation/issues/26), `store`
    // (Gitlawb/openclaude, issue 739), `metadata` (OpenHands/OpenHands, issue 11699), by a schema that is enforced for all members (github/app, issue 3299,
    // 2026-08-28). It takes what github.com/mistralai/client-python lists, ChatCompletionRequest (read 2026-11-26).
    unsupported: allBut('frequency_penalty presence_penalty n parallel_tool_calls prediction prompt_cache_key seed'),
    history: 'thinking-parts', // "extra_forbidden": github.com/charmbracelet/crush/issues/1590
    toolNames: NAMES_OF_OPENAI,
    quirks: [
      plainAnswers, // "extra_forbidden" for any member of a message that is not listed: BerriAI/litellm, issue 30882
      noMessageNames, // "extra_forbidden", loc messages 0 user name: github.com/nomtek/mistralai_client_dart/issues/44
      developerRole, // roles are assistant, system, tool, user: github.com/mistralai/client-python, ChatCompletionStreamRequest
      mistralOrder, // 400 code 3230: BerriAI/litellm, issue 17761; github.com/mistralai/mistral-common, protocol/instruct/validator.py
      maxTokens, // "extra_forbidden": github.com/editor-code-assistant/eca/issues/231
      randomSeed, // "extra_forbidden", loc body seed: github.com/Vali-98/ChatterUI/issues/143
      noStreamOptions, // "extra_forbidden": github.com/openai/openai-agents-python/issues/442
      shortToolIds, // 400 code 3280: github.com/mistralai/mistral-common, protocol/instruct/validator.py
      toolCallParts, // recorded: neither index nor type
      thinkingParts, // recorded (github.com/vercel/ai, packages/mistral): magistral
      usageInsideChunks, // recorded: in the chunk that finishes
      finishReasons({ model_length: 'length', error: { status: 500 } }), // github.com/mistralai/client-python, FinishReason
    ],
    source: 'https://docs.mistral.ai/api/',
  },
  moonshot: {
    baseUrl: 'https://api.moonshot.ai/v1',
    keyVariable: 'MOONSHOT_API_KEY',
    history: 'required-reasoning-content', // "reasoning_content is missing in assistant tool call message": github.com/earendil-works/pi/issues/4251
    toolNames: /^[A-Za-z_][\w-]{0,63}$/, // a name must not begin with a digit: github.com/MoonshotAI/kimi-cli/issues/2531
    quirks: [
      developerRole, // github.com/earendil-works/pi, openai-completions.ts, `detectCompat`
      maxTokens, // the same
      forcedToolsOfKimi, // "incompatible with thinking enabled": can1357/oh-my-pi, issue 1077; UKGovernmentBEIS/inspect_ai, pull 5152
      usageInsideChunks, // inside the choice: github.com/earendil-works/pi/issues/2017
      cachedTokens, // beside the counts: github.com/vercel/ai, packages/moonshotai, convert-moonshotai-chat-usage.ts
    ],
    source: 'https://github.com/vercel/ai/tree/main/packages/moonshotai',
  },
  nebius: {
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    keyVariable: 'NEBIUS_API_KEY',
    quirks: [],
    source: 'https://docs.tokenfactory.nebius.com/api-reference/introduction',
  },
  novita: {
    baseUrl: 'https://api.novita.ai/openai/v1',
    keyVariable: 'NOVITA_API_KEY',
    quirks: [
      maxTokens, // the other name is not among its parameters: novita.ai/docs/api-reference/model-apis-llm-create-chat-completion
    ],
    source: 'https://www.promptfoo.dev/docs/providers/novita/',
  },
  nvidia: {
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    keyVariable: 'NVIDIA_API_KEY',
    facts: THINKERS_OF_NVIDIA,
    unsupported: {
      // 'Unsupported parameter(s)', "Extra inputs are not permitted": its schemas have `additionalProperties: false` (can1357/oh-my-pi, pull request
      // 2299); `prompt_cache_key`: github.com/sipeed/picoclaw/issues/1019; `reasoning`: NousResearch/hermes-agent, issue 77973
      ...dropping(`${LABELS} service_tier verbosity prediction`),
      ...dropping('reasoning enable_thinking'),
    },
    history: 'reasoning-content', // github.com/anomalyco/models.dev, providers/nvidia, `interleaved`
    quirks: [
      developerRole, // github.com/earendil-works/pi, openai-completions.ts, `detectCompat`
      maxTokens, // the same
    ],
    source: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
  },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    // Members that a model does not take are ignored: openrouter.ai/docs, "Parameters". Marks: openrouter.ai/docs, "Prompt caching".
    // `reasoning.max_tokens`: openrouter.ai/docs/use-cases/reasoning-tokens.
    facts: { ...MARKS_OF_CLAUDE, ...REASONERS_OF_OPENROUTER, '*': { ...IGNORES_EFFORT['*'], ...TAKES_BUDGET['*'] } },
    history: 'reasoning-details', // openrouter.ai/docs/use-cases/reasoning-tokens
    pictures: true, // github.com/OpenRouterTeam/typescript-sdk, `ChatAssistantMessage.images` (of 2026-08-22)
    quirks: [],
    source: 'https://openrouter.ai/docs/quickstart',
  },
  ovhcloud: {
    baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    keyVariable: 'OVH_AI_ENDPOINTS_ACCESS_TOKEN',
    quirks: [
      maxTokens, // the only name among its parameters: oai.endpoints.kepler.ai.cloud.ovh.net, "Chat completions"
    ],
    source: 'https://strandsagents.com/docs/community/model-providers/ovhcloud-ai-endpoints/',
  },
  parasail: {
    baseUrl: 'https://api.parasail.io/v1',
    keyVariable: 'PARASAIL_API_KEY',
    quirks: [],
    source: 'https://github.com/vercel/ai/tree/main/packages/parasail',
  },
  perplexity: {
    baseUrl: 'https://api.perplexity.ai',
    keyVariable: 'PERPLEXITY_API_KEY',
    history: 'none', // its models call no tools, and write no reasoning beside their text
    quirks: [
      developerRole, // "system message(s), user or tool message(s), assistant message(s)": the same issue
      alternatingRoles, // "should alternate with assistant message(s)": github.com/perplexityai/api-discussion/issues/265
      noStreamOptions, // not among its parameters: docs.perplexity.ai/guides/chat-completions-guide
      usageInsideChunks, // recorded (github.com/vercel/ai, packages/perplexity): in every chunk, growing
    ],
    source: 'https://docs.perplexity.ai/guides/chat-completions-guide',
  },
  poe: {
    baseUrl: 'https://api.poe.com/v1',
    keyVariable: 'POE_API_KEY',
    quirks: [],
    source: 'https://creator.poe.com/docs/external-applications',
  },
  sambanova: {
    baseUrl: 'https://api.sambanova.ai/v1',
    keyVariable: 'SAMBANOVA_API_KEY',
    quirks: [
      developerRole, // messages are of system, user, assistant and tool: docs.sambanova.ai/docs/api-reference/chat-completions
    ],
    source: 'https://docs.pipecat.ai/api-reference/server/services/llm/sambanova',
  },
  scaleway: {
    baseUrl: 'https://api.scaleway.ai/v1',
    keyVariable: 'SCW_SECRET_KEY',
    quirks: [],
    source: 'https://scaleway.com/en/docs/ai-data/generative-apis/api-cli/using-chat-api',
  },
  siliconflow: {
    baseUrl: 'https://api.siliconflow.com/v1',
    keyVariable: 'SILICONFLOW_API_KEY',
    facts: THINKERS_OF_SILICONFLOW,
    quirks: [
      developerRole, // roles are system, user and assistant: docs.siliconflow.cn/cn/api-reference/chat-completions
      maxTokens, // the only name among its parameters: the same page
    ],
    source: 'https://www.siliconflow.com/blog/openai-sdk-siliconflow-compatibility-checks',
  },
  together: {
    baseUrl: 'https://api.together.ai/v1',
    keyVariable: 'TOGETHER_API_KEY',
    quirks: [
      developerRole, // github.com/earendil-works/pi, openai-completions.ts, `detectCompat`
      maxTokens, // the only name among its parameters: github.com/togethercomputer/openapi (of 2026-04-28)
    ],
    source: 'https://docs.together.ai/docs/inference/openai-compatibility',
  },
  venice: {
    baseUrl: 'https://api.venice.ai/api/v1',
    keyVariable: 'VENICE_API_KEY',
    // "Unrecognized key(s) in object": github.com/jekalmin/extended_openai_conversation/issues/284; github.com/veniceai/api-docs, swagger.yaml (of
    // 2026-08-22), has `additionalProperties: false`. It is not known for members of other vendors.
    unsupported: allBut(
      'frequency_penalty presence_penalty logprobs top_logprobs n parallel_tool_calls prompt_cache_key prompt_cache_retention seed store metadata user verbosity thinking reasoning enable_thinking top_k min_p repetition_penalty',
    ),
    quirks: [],
    source: 'https://docs.venice.ai/api-reference/api-spec',
  },
  vercel: {
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    keyVariable: 'AI_GATEWAY_API_KEY',
    // vercel.com/docs/ai-gateway, "Anthropic"; sdks-and-apis/openai-chat-completions/reasoning, `max_tokens` (of 2026-09-08, read 2026-11-26)
    facts: { ...MARKS_OF_CLAUDE, ...TAKES_BUDGET },
    history: 'reasoning-details', // vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions/advanced
    quirks: [],
    source: 'https://docs.litellm.ai/docs/providers/vercel_ai_gateway',
  },
  volcengine: {
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
    keyVariable: 'ARK_API_KEY',
    quirks: [],
    source: 'https://cloudwego.io/docs/eino/ecosystem/chat_model/chat_model_ark',
  },
  xai: {
    baseUrl: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    responses: true, // github.com/vercel/ai, packages/xai
    cap: 'max_completion_tokens', // docs.x.ai/docs/api-reference: max_tokens is deprecated
    unsupported: {
      // Refused on any Grok: github.com/burin-labs/harn, capability_sources (probed 2026-07-14)
      frequency_penalty: dropped,
      presence_penalty: dropped,
    },
    quirks: [
      uncountedReasoning, // recorded (github.com/vercel/ai, packages/xai): 12 + 1 + 290 reasoning = 303
    ],
    source: 'https://docs.x.ai/api/integrations',
  },
  xiaomi: {
    baseUrl: 'https://api.xiaomimimo.com/v1',
    keyVariable: 'MIMO_API_KEY',
    // "must be passed back to the API": platform.xiaomimimo.com/docs/en-US/usage-guide/passing-back-reasoning_content
    history: 'required-reasoning-content',
    quirks: [
      filledContent, // "`text` is not set": github.com/XiaomiMiMo/MiMo/issues/44, NousResearch/hermes-agent, pull request 37841
    ],
    source: 'https://mimo.mi.com/docs/en-US/quick-start/summary/first-api-call',
  },
  zai: {
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keyVariable: 'ZAI_API_KEY',
    facts: OBJECTS_ONLY, // docs.z.ai/guides/capabilities/struct-output (read 2026-11-26)
    history: 'reasoning-content', // docs.z.ai/guides/capabilities/thinking-mode
    quirks: [
      developerRole, // error 1214: github.com/openclaw/openclaw/issues/23115
      autoToolChoice, // `auto` only: docs.z.ai/api-reference/llm/chat-completion (read 2026-11-26)
      // docs.z.ai/api-reference/llm/chat-completion
      finishReasons({ sensitive: 'content_filter', model_context_window_exceeded: 'length', network_error: OVERLOADED }),
    ],
    source: 'https://docs.z.ai/guides/develop/openai/python',
  },
  'lm-studio': {
    baseUrl: 'http://127.0.0.1:1234/v1',
    responses: true, // lmstudio.ai/docs/developer/api-changelog, 0.3.29
    facts: { '*': { objects: 'never' } }, // "'response_format.type' must be 'json_schema'": lmstudio-ai/lmstudio-bug-tracker, issue 189
    quirks: [
      wordsOfToolChoice, // "Invalid tool_choice type: 'object'": github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670
      typedTools, // "tools.0.function.parameters.type": github.com/lmstudio-ai/lms/issues/537
    ],
    source: 'https://lmstudio.ai/docs/developer/openai-compat',
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434/v1',
    // Formats and tools: ollama/ollama, issues 8095 and 13750 (2026-01). It has no tool_choice: docs.ollama.com/api/openai-compatibility.
    facts: { '*': { ...FORMATS_WITHOUT_TOOLS['*'], forcedTools: false } },
    quirks: [
      developerRole, // left to the model's template: github.com/ollama/ollama-python/issues/453
      maxTokens, // not a field of its request: github.com/ollama/ollama, openai/openai.go
      toolCallParts, // 0.20: all calls have the index 0: github.com/ollama/ollama/issues/15457
    ],
    source: 'https://docs.ollama.com/api/openai-compatibility',
  },
  sglang: {
    baseUrl: 'http://127.0.0.1:30000/v1',
    // Unknown members are ignored, and each effort is known: github.com/sgl-project/sglang, protocol.py; formats and tools: pull 25777 (2026-05).
    facts: { '*': { ...IGNORES_EFFORT['*'], ...FORMATS_WITHOUT_TOOLS['*'] } },
    quirks: [],
    source: 'https://mintlify.com/sgl-project/sglang/quickstart',
  },
  vllm: {
    baseUrl: 'http://127.0.0.1:8000/v1',
    facts: IGNORES_EFFORT, // for the model's template, which may ignore it: docs.vllm.ai, chat completion protocol
    responses: true, // docs.vllm.ai/en/latest/serving/openai_compatible_server.html
    quirks: [
      noEmptyTools, // refused: github.com/vllm-project/vllm, entrypoints/openai/chat_completion/protocol.py
    ],
    source: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
  },
} as const satisfies Readonly<Record<string, Preset>>

/** The name of a row of `PRESETS`. */
export type PresetName = keyof typeof PRESETS
