import type { ModelEndpointName } from '../sdk/api.ts'

/**
 * The members of requests, by what they can do: docs/decisions/members-of-requests.md. A test compares them with the types that OpenAI and
 * Anthropic publish, and fails for a new one until it is classified here.
 */

/** What a member can do that the gateway has to guard. */
export type Guarded =
  /** Names a further model: the key must be allowed to call it. */
  | 'model'
  /** Chooses what answers, in place of `model`: refused. */
  | 'choice'
  /** Refers to something that the upstream keeps for all who use its credential: refused, unless the operator allows it. */
  | 'kept'
  /** Refers to a kept response by its id, which has a seal. */
  | 'response'
  /** Refers to an item of a kept response by its id, which has a seal. */
  | 'item'
  /** Refers to a kept reply, only to be compared with it: replaced by null. */
  | 'comparison'
  /** Asks for a reply that is made later: refused. */
  | 'later'

/** What a member of a request can do. */
export type MemberKind =
  | Guarded
  /** Read by routing, authorisation or limits, or by the writer of the reply. */
  | 'routing'
  /** Changes what a call can cost: how much is made, or at which price. */
  | 'cost'
  /** Lets the upstream do more than answer: tools, connections. */
  | 'capability'
  | 'harmless'

/** The members of an endpoint's requests. */
export interface EndpointMembers {
  readonly top: Readonly<Record<string, MemberKind>>
  /** Members below the top level, at any depth: by key, or by the last keys of their path. */
  readonly nested: Readonly<Record<string, Guarded>>
  /** Keys below the top level whose presence the scan notes. */
  readonly marks?: readonly string[]
  /** Whether the scan notes members `name` below the top level whose text some vendor may not take as the name of a tool. */
  readonly tellsNames?: true
  /** Keys of what no upstream reads as members: schemas, arguments of tools, what a reply has said. */
  readonly data: readonly string[]
}

/** Members of one kind, for tables. */
const all = <Kind extends MemberKind>(kind: Kind, names: string): Record<string, Kind> =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, kind]),
  )

/** References of any endpoint. `knowledge_id`: docs.bigmodel.cn, retrieval; `library_ids`: docs.mistral.ai, document library. */
const KEPT = all('kept', 'file_id file_ids vector_store_ids container_id skill_id tunnel_id knowledge_id library_ids voice.id')

/** Schemas, and the client's own notes and documents. */
const DATA = ['parameters', 'schema', 'metadata', 'documents']

/** Members of an answer in which upstreams, gateways and clients keep reasoning and its state, and the pictures that a model has made. */
const HISTORY_MARKS = [
  'images',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking',
  'thinking_blocks',
  'provider_specific_fields',
  'extra_content',
]

/** openai-node 7.55: `ChatCompletionCreateParams`. `deferred`: docs.x.ai, deferred completions. */
const CHAT: EndpointMembers = {
  top: {
    ...all('routing', 'model messages stream stream_options user functions response_format'),
    ...all('cost', 'n max_tokens max_completion_tokens modalities audio service_tier prediction'),
    ...all('capability', 'tools web_search_options moderation'),
    ...all('later', 'deferred'),
    ...all(
      'harmless',
      `frequency_penalty function_call logit_bias logprobs metadata parallel_tool_calls presence_penalty prompt_cache_key
      prompt_cache_options prompt_cache_retention reasoning_effort safety_identifier seed stop store temperature tool_choice top_logprobs
      top_p verbosity`,
    ),
  },
  // An earlier answer that was spoken.
  nested: { ...KEPT, model: 'model', 'audio.id': 'kept' },
  // Of earlier answers: what a vendor wants back, and another one refuses. Of tools: forms that many vendors do not know.
  marks: [...HISTORY_MARKS, 'custom', 'function_call'],
  tellsNames: true,
  data: [...DATA, 'arguments', 'chat_template_kwargs'],
}

/** openai-node 7.55: `ResponseCreateParams`. */
const RESPONSES: EndpointMembers = {
  top: {
    ...all('routing', 'model input instructions stream stream_options user'),
    ...all('cost', 'max_output_tokens max_tool_calls service_tier'),
    ...all('capability', 'tools moderation'),
    ...all('kept', 'conversation prompt'),
    ...all('response', 'previous_response_id'),
    ...all('later', 'background'),
    ...all(
      'harmless',
      `access_programs context_management image include metadata parallel_tool_calls prompt_cache_key prompt_cache_options
      prompt_cache_retention reasoning safety_identifier store temperature text tool_choice top_logprobs top_p truncation`,
    ),
  },
  nested: {
    ...KEPT,
    model: 'model',
    container: 'kept',
    comparison_response_id: 'response',
    'input[].id': 'item',
    approval_request_id: 'item',
  },
  data: [...DATA, 'output_schema', 'annotations', 'results', 'svg_usage'],
}

/** @anthropic-ai/sdk 1.11: `MessageCreateParams` and `MessageCountTokensParams`, the beta ones too. */
const MESSAGES: EndpointMembers = {
  top: {
    ...all('routing', 'model messages system stream'),
    ...all('cost', 'max_tokens service_tier speed inference_geo billing_policy'),
    ...all('capability', 'tools mcp_servers'),
    ...all('choice', 'fallbacks'),
    ...all('kept', 'container thread workspace_id user_profile_id fallback_credit_token'),
    ...all(
      'harmless',
      `betas cache_control compaction context_management diagnostics metadata output_config output_format stop_sequences temperature
      thinking tool_choice top_p top_k`,
    ),
  },
  nested: { ...KEPT, model: 'choice', previous_message_id: 'comparison' },
  // Of caches and of tools: clouds refuse them.
  marks: ['scope', 'eager_input_streaming'],
  data: [...DATA, 'input_schema', 'input', 'input_examples', 'from', 'to'],
}

const IMAGES = {
  ...all('routing', 'model prompt stream user'),
  ...all('cost', 'n quality size partial_images input_fidelity frame_count complexity'),
  ...all(
    'harmless',
    `background frame_duration_ms image markup mask moderation output_compression output_format response_format safety_identifier style
    svg`,
  ),
}

/** What requests without members of their own to guard below the top level have. */
const PLAIN = { nested: { ...KEPT, model: 'model' }, data: DATA } as const

/** The members of each endpoint's requests (openai-node 7.55; rerank: docs.cohere.com, v2; jina.ai/reranker). */
export const MEMBERS: { readonly [Name in ModelEndpointName]: EndpointMembers } = {
  'chat.completions': CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
  'messages.count_tokens': MESSAGES,
  completions: {
    ...PLAIN,
    top: {
      ...all('routing', 'model prompt stream stream_options user'),
      ...all('cost', 'n best_of max_tokens'),
      ...all('harmless', 'echo frequency_penalty logit_bias logprobs presence_penalty seed stop suffix temperature top_p'),
    },
  },
  embeddings: { ...PLAIN, top: { ...all('routing', 'model input user'), ...all('harmless', 'dimensions encoding_format') } },
  moderations: { ...PLAIN, top: all('routing', 'model input') },
  'images.generations': { ...PLAIN, top: IMAGES },
  'images.edits': { ...PLAIN, top: IMAGES },
  'audio.speech': {
    ...PLAIN,
    top: {
      ...all('routing', 'model input stream_format'),
      ...all('harmless', 'voice instructions response_format speed'),
    },
  },
  'audio.transcriptions': {
    ...PLAIN,
    top: {
      ...all('routing', 'model prompt stream response_format'),
      ...all(
        'harmless',
        `file chunking_strategy include keywords known_speaker_names known_speaker_references language languages temperature
        timestamp_granularities`,
      ),
    },
  },
  'audio.translations': {
    ...PLAIN,
    top: { ...all('routing', 'model prompt response_format'), ...all('harmless', 'file temperature') },
  },
  rerank: {
    ...PLAIN,
    top: { ...all('routing', 'model query documents'), ...all('harmless', 'top_n return_documents max_tokens_per_doc') },
  },
}

/** By type, the members that hold what an item of a conversation says (openai-node 7.55, `ResponseInputItem`). */
export const ITEM_CONTENT: Readonly<Record<string, readonly string[]>> = {
  message: ['content'],
  reasoning: ['encrypted_content', 'content'],
  compaction: ['encrypted_content'],
  function_call: ['arguments'],
  custom_tool_call: ['input'],
  web_search_call: ['action'],
  file_search_call: ['results'],
  code_interpreter_call: ['outputs'],
  image_generation_call: ['result'],
  computer_call: ['action', 'actions'],
  local_shell_call: ['action'],
  shell_call: ['action'],
  apply_patch_call: ['operation'],
  mcp_call: ['output', 'error'],
  mcp_list_tools: ['tools'],
  mcp_approval_request: ['arguments'],
  tool_search_call: ['arguments'],
  tool_search_output: ['tools'],
  additional_tools: ['tools'],
  program: ['code'],
  program_output: ['result'],
  apply_patch_call_output: ['status'],
  function_call_output: ['output'],
  custom_tool_call_output: ['output'],
  computer_call_output: ['output'],
  local_shell_call_output: ['output'],
  shell_call_output: ['output'],
}
