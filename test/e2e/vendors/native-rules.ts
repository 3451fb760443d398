/**
 * What the vendors with APIs of their own refuse, as their pages and their users say (read on 2026-11-26): the rules of strict upstreams.
 */
import { BETAS as VERTEX_BETAS } from '../../../plugins/providers/vertex/messages.ts'

// biome-ignore lint/suspicious/noExplicitAny: rules read a few members of the bodies of eight APIs
type Body = any

/** What is wrong with a request, if it breaks the rule. `model`: the upstream's name of it. */
export interface Rule {
  readonly what: string
  breaks(body: Body, model: string, headers: Readonly<Record<string, unknown>>): boolean
}

const rule = (what: string, breaks: Rule['breaks']): Rule => ({ what, breaks })

const blank = (text: unknown): boolean => typeof text === 'string' && text.trim() === ''
const isUnique = (list: readonly unknown[]): boolean => new Set(list).size === list.length
const blocksOf = ({ content, parts }: Body): readonly Body[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? parts ?? [])
const allBlocks = (messages: readonly Body[]): readonly Body[] => messages.flatMap(blocksOf)
const unknownIn = (body: Body, known: string): boolean => Object.keys(body).some((name) => !known.split(' ').includes(name))

/** Every value of a name in JSON, at any depth. */
function valuesOf(json: unknown, name: string): unknown[] {
  const found: unknown[] = []
  JSON.stringify(json, (key, value) => {
    if (key === name) found.push(value)
    return value
  })
  return found
}

/** Whether an object of a schema is open, or has a keyword of this list. */
function someSchema(schema: Body, test: (schema: Body) => boolean): boolean {
  if (Array.isArray(schema)) return schema.some((each) => someSchema(each, test))
  if (typeof schema !== 'object' || schema === null) return false
  return test(schema) || Object.values(schema).some((each) => someSchema(each, test))
}

/** Claude by generation: those before 4.6 take a message to continue, and numbers of tokens to think with. */
const isOldClaude = (model: string): boolean => /-4-5|-4-1|-4-2025|opus-4@|sonnet-4@|-3-/.test(model)
const thinks = ({ thinking }: Body): boolean => ['enabled', 'adaptive', 'between_tools'].includes(thinking?.type)
const isForced = ({ tool_choice: choice }: Body): boolean => ['any', 'tool'].includes(choice?.type)
const calls = (message: Body, type = 'tool_use'): readonly Body[] => blocksOf(message).filter((block) => block.type === type)

/** platform.claude.com: "Messages", "Tool use", "Extended thinking", "Effort", "Structured outputs", "Prompt caching", "Migration guide". */
const CLAUDE: readonly Rule[] = [
  rule(
    'messages: roles must be user or assistant, and the first must be user',
    ({ messages }) => messages.some(({ role }: Body) => !['user', 'assistant'].includes(role)) || messages[0]?.role !== 'user',
  ),
  rule('messages: content must not be empty', ({ messages }) => messages.some((message: Body) => blocksOf(message).length === 0)),
  rule('text content blocks must contain non-whitespace text', ({ messages, system }) =>
    [...allBlocks(messages), ...blocksOf({ content: system ?? [] })].some(({ type, text }) => type === 'text' && blank(text)),
  ),
  rule(
    'This model does not support assistant message prefill.',
    (body, model) =>
      body.messages.at(-1).role === 'assistant' &&
      (!isOldClaude(model) || thinks(body) || body.output_config?.format !== undefined),
  ),
  rule('final assistant content cannot end with trailing whitespace', ({ messages }) => {
    const last = messages.at(-1)
    return last.role === 'assistant' && /\s$/.test(blocksOf(last).at(-1).text ?? '')
  }),
  rule("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", ({ messages }) =>
    allBlocks(messages).some(({ type, id }) => type === 'tool_use' && !/^[a-zA-Z0-9_-]+$/.test(id)),
  ),
  rule(
    '`tool_use` ids must be unique',
    ({ messages }) => !isUnique(messages.flatMap((message: Body) => calls(message)).map(({ id }: Body) => id)),
  ),
  rule('`tool_use` blocks must have their results at the beginning of the next message, and no others', ({ messages }) =>
    messages.some((message: Body, index: number) => {
      const asked = message.role === 'assistant' ? calls(message).map(({ id }) => id) : []
      const next = messages[index + 1]
      const results = next === undefined ? [] : calls(next, 'tool_result').map(({ tool_use_id: id }) => id)
      const first = next === undefined ? [] : blocksOf(next).slice(0, results.length)
      if (message.role !== 'assistant') return index === 0 && calls(message, 'tool_result').length > 0
      return (
        asked.length !== results.length ||
        asked.some((id) => !results.includes(id)) ||
        first.some(({ type }) => type !== 'tool_result')
      )
    }),
  ),
  rule(
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$', and be unique",
    ({ tools = [] }) =>
      tools.some(({ name }: Body) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) || !isUnique(tools.map(({ name }: Body) => name)),
  ),
  rule('messages.1.content.0.tool_use.name: String should match pattern', ({ messages }) =>
    messages.flatMap((message: Body) => calls(message)).some(({ name }: Body) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name)),
  ),
  rule('input_schema must be an object without oneOf, allOf, or anyOf at the top level', ({ tools = [] }) =>
    tools.some(({ input_schema: schema }: Body) => schema?.type !== 'object' || schema.anyOf || schema.oneOf || schema.allOf),
  ),
  rule('tool_choice without tools', ({ tools = [], tool_choice: choice }) => choice !== undefined && tools.length === 0),
  rule(
    'Thinking may not be enabled when tool_choice forces tool use.',
    (body, model) => isForced(body) && (body.thinking?.type === 'enabled' || /(opus|sonnet)-5-5/.test(model)),
  ),
  rule(
    'thinking.budget_tokens: at least 1024, less than max_tokens, of older models only',
    ({ thinking, max_tokens: most }, model) =>
      thinking?.type === 'enabled' &&
      (thinking.budget_tokens < 1024 || thinking.budget_tokens >= most || !(isOldClaude(model) || /-4-6/.test(model))),
  ),
  rule(
    'adaptive thinking and efforts are not supported on this model',
    ({ thinking, output_config: output }, model) =>
      isOldClaude(model) && (thinking?.type === 'adaptive' || output?.effort !== undefined),
  ),
  rule(
    'This model does not support disabled thinking',
    ({ thinking }, model) => thinking?.type === 'disabled' && /(opus|sonnet)-5-5|fable|mythos/.test(model),
  ),
  rule(
    'output_config.effort',
    ({ output_config: output }, model) =>
      output?.effort !== undefined &&
      !['low', 'medium', 'high', 'max', ...(/-4-6/.test(model) ? [] : ['xhigh'])].includes(output.effort),
  ),
  rule('Expected `thinking`, but found `tool_use`', (body) => {
    const [before, last] = body.messages.slice(-2)
    const isStep = last !== undefined && calls(last, 'tool_result').length > 0
    return isStep && body.thinking?.type === 'enabled' && !/thinking/.test(blocksOf(before)[0]?.type)
  }),
  rule('`temperature` and `top_p` cannot both be specified, and neither with thinking or newer models', (body, model) => {
    const given = [body.temperature, body.top_p].filter((value) => value !== undefined)
    return given.length > 1 || (given.length > 0 && (thinks(body) || !(isOldClaude(model) || /-4-6/.test(model))))
  }),
  rule('temperature: range: 0..1', ({ temperature = 0 }) => temperature < 0 || temperature > 1),
  rule(
    'output_config.format: objects must be closed, and some keywords are not supported',
    ({ output_config: output, tools = [] }) =>
      [
        output?.format?.schema,
        ...tools.filter(({ strict }: Body) => strict).map(({ input_schema: schema }: Body) => schema),
      ].some((root) =>
        someSchema(root, (schema) => {
          const isOpen = schema.type === 'object' && schema.properties !== undefined && schema.additionalProperties !== false
          return (
            isOpen ||
            ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern'].some(
              (name) => name in schema && typeof schema[name] !== 'object',
            )
          )
        }),
      ),
  ),
  rule('A maximum of 4 blocks with cache_control may be provided.', (body) => valuesOf(body, 'cache_control').length > 4),
  rule('images and documents are the user’s', ({ messages }) =>
    messages.some(
      (message: Body) => message.role === 'assistant' && blocksOf(message).some(({ type }) => /image|document/.test(type)),
    ),
  ),
  rule('stop_sequences: each must contain non-whitespace', ({ stop_sequences: stop = [] }) => stop.some(blank)),
]

const MEMBERS =
  `max_tokens messages system tools tool_choice thinking output_config temperature top_p top_k stop_sequences stream metadata
  context_management service_tier`.replaceAll(/\s+/g, ' ')

const ANTHROPIC: readonly Rule[] = [
  ...CLAUDE,
  rule('Extra inputs are not permitted', (body) => unknownIn(body, `${MEMBERS} model cache_control`)),
]

const betasIn = (header: unknown): readonly string[] => (typeof header === 'string' ? header.split(',') : [])

/** github.com/UKGovernmentBEIS/inspect_ai, pull request 3851; github.com/Wei-Shaw/claude-relay-service, pull request 965. */
const CLOUD: readonly Rule[] = [
  ...CLAUDE,
  rule('cache_control.ephemeral.scope: Extra inputs are not permitted', (body) =>
    valuesOf(body, 'cache_control').some((mark: Body) => 'scope' in mark),
  ),
]

const VERTEX_CLAUDE: readonly Rule[] = [
  ...CLOUD,
  rule('Extra inputs are not permitted', (body) => unknownIn(body, `${MEMBERS} anthropic_version`)),
  rule('anthropic_version: Field required', ({ anthropic_version: version }) => version === undefined),
  rule('Unexpected value(s) for the `anthropic-beta` header', (_, __, headers) =>
    betasIn(headers['anthropic-beta']).some((beta) => !VERTEX_BETAS.includes(beta)),
  ),
]

/** The betas of Bedrock: github.com/BerriAI/litellm, anthropic_beta_headers_config.json, November 2026; those that Claude Code sends and it refuses. */
const REFUSED_BETAS = [
  'prompt-caching-scope-2026-01-05',
  'interleaved-thinking-2025-05-14',
  'claude-code-20250219',
  'per-turn-control-2026-07-01',
]

const INVOKE: readonly Rule[] = [
  ...CLOUD,
  rule(
    'Extra inputs are not permitted',
    (body) => unknownIn(body, `${MEMBERS} anthropic_version anthropic_beta`) || 'stream' in body,
  ),
  rule('anthropic_version: Field required', ({ anthropic_version: version }) => version === undefined),
  rule('invalid beta flag', ({ anthropic_beta: betas = [] }) => betas.some((beta: string) => REFUSED_BETAS.includes(beta))),
  rule(
    'tools.0.custom.eager_input_streaming: Extra inputs are not permitted',
    (body) => valuesOf(body, 'eager_input_streaming').length > 0,
  ),
]

/** Amazon Bedrock API reference: "Converse", "ToolSpecification", "ToolUseBlock", "DocumentBlock"; recorded refusals as the sources of the provider say. */
const CONVERSE: readonly Rule[] = [
  rule('A conversation must alternate between user and assistant roles, and start with a user message', ({ messages }) =>
    messages.some(({ role }: Body, index: number) => role !== (index % 2 === 0 ? 'user' : 'assistant')),
  ),
  rule(
    'the last turn in the conversation must be a user message',
    ({ messages, additionalModelRequestFields: fields = {} }, model) => {
      const continues = (isOldClaude(model) && !thinks(fields)) || model.includes('nova')
      return messages.at(-1).role !== 'user' && !continues
    },
  ),
  rule('The content field is empty', ({ messages }) => messages.some(({ content }: Body) => content.length === 0)),
  rule('The text field in the ContentBlock object is blank', ({ messages, system = [] }) =>
    [...allBlocks(messages), ...system].some(({ text }) => blank(text)),
  ),
  rule('toolUseId: Member must satisfy [a-zA-Z0-9_-]{1,64}', ({ messages }, model) =>
    valuesOf(messages, 'toolUseId').some(
      (id) => !(/mistral/.test(model) ? /^[a-zA-Z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,64}$/).test(String(id)),
    ),
  ),
  rule('Expected toolResult blocks for the toolUse blocks of the turn before', ({ messages }) => {
    const ids = (message: Body, kind: string): readonly string[] =>
      blocksOf(message ?? {}).flatMap((block) => block[kind]?.toolUseId ?? [])
    return messages.some((message: Body, index: number) => {
      if (message.role !== 'assistant') return index === 0 && ids(message, 'toolResult').length > 0
      const [asked, given] = [ids(message, 'toolUse'), ids(messages[index + 1], 'toolResult')]
      return !isUnique(asked) || asked.length !== given.length || asked.some((id) => !given.includes(id))
    })
  }),
  rule('toolSpec.name: [a-zA-Z0-9_-]{1,64}', ({ toolConfig }) =>
    (toolConfig?.tools ?? []).some(({ toolSpec }: Body) => toolSpec && !/^[a-zA-Z0-9_-]{1,64}$/.test(toolSpec.name)),
  ),
  rule('toolUse.name: [a-zA-Z0-9_-]{1,64}', ({ messages }) =>
    allBlocks(messages).some(({ toolUse }) => toolUse && !/^[a-zA-Z0-9_-]{1,64}$/.test(toolUse.name)),
  ),
  rule('toolSpec.description: at least 1', ({ toolConfig }) =>
    (toolConfig?.tools ?? []).some(({ toolSpec }: Body) => blank(toolSpec?.description)),
  ),
  rule(
    'The toolConfig field must be defined when using toolUse and toolResult content blocks',
    ({ messages, toolConfig }) => allBlocks(messages).some(({ toolUse }) => toolUse) && (toolConfig?.tools ?? []).length === 0,
  ),
  rule('inputSchema.json.type must be object', ({ toolConfig }, model) =>
    (toolConfig?.tools ?? []).some(({ toolSpec: { inputSchema } }: Body) => {
      const schema = inputSchema.json
      return schema.type !== 'object' || (/claude/.test(model) && (schema.anyOf || schema.oneOf || schema.allOf))
    }),
  ),
  rule('A text block must be included when using documents', ({ messages }) =>
    messages.some(
      (message: Body) => blocksOf(message).some(({ document }) => document) && !blocksOf(message).some(({ text }) => text),
    ),
  ),
  rule(
    "Messages can't contain duplicate document names",
    ({ messages }) => !isUnique(valuesOf(messages, 'document').map((document) => (document as Body).name)),
  ),
  rule('images and documents are the user’s', ({ messages }) =>
    messages.some(
      (message: Body) => message.role === 'assistant' && blocksOf(message).some(({ image, document }) => image || document),
    ),
  ),
  rule('temperature: 0..1', ({ inferenceConfig: { temperature = 0 } = {} }) => temperature < 0 || temperature > 1),
  rule('stopSequences: non-blank', ({ inferenceConfig: { stopSequences = [] } = {} }) => stopSequences.some(blank)),
  rule('A maximum of 4 cache points', (body) => valuesOf(body, 'cachePoint').length > 4),
  rule(
    'this model takes no cache points',
    (body, model) => !/claude|nova/.test(model) && valuesOf(body, 'cachePoint').length > 0,
  ),
  rule(
    'toolChoice and additionalModelRequestFields.tool_choice',
    ({ toolConfig, additionalModelRequestFields: fields }) =>
      toolConfig?.toolChoice !== undefined && fields?.tool_choice !== undefined,
  ),
  rule(
    "This model doesn't support the toolConfig.toolChoice field",
    ({ toolConfig }, model) => /llama/.test(model) && toolConfig?.toolChoice !== undefined,
  ),
  rule(
    'thinking: budget_tokens below the most tokens, and of older models',
    ({ additionalModelRequestFields: fields, inferenceConfig }, model) => {
      const { thinking } = fields ?? {}
      if (thinking?.type !== 'enabled') return false
      const most = inferenceConfig?.maxTokens ?? 0
      return thinking.budget_tokens < 1024 || thinking.budget_tokens >= most || !(isOldClaude(model) || /-4-6/.test(model))
    },
  ),
  rule(
    '`temperature` may not be set when thinking is enabled, nor beside `top_p`',
    ({ inferenceConfig = {}, additionalModelRequestFields: fields }, model) => {
      const { temperature, topP } = inferenceConfig
      const given = [temperature, topP].filter((value) => value !== undefined).length
      const isClaude = /claude/.test(model)
      return isClaude && (given > 1 || (given > 0 && (thinks(fields ?? {}) || !(isOldClaude(model) || /-4-6/.test(model)))))
    },
  ),
  rule(
    'thinking is not supported by this model',
    ({ additionalModelRequestFields: fields }, model) => fields?.thinking !== undefined && !/claude/.test(model),
  ),
  rule(
    'outputConfig is not supported by this model',
    ({ outputConfig }, model) => outputConfig !== undefined && /llama|nova/.test(model),
  ),
  // github.com/envoyproxy/ai-gateway, pull request 1749 (2026-01-09)
  rule('Reservation not found.', ({ serviceTier }, model) => serviceTier !== undefined && /claude|llama/.test(model)),
  rule('Extraneous key', (body) =>
    unknownIn(
      body,
      'messages system inferenceConfig toolConfig guardrailConfig outputConfig requestMetadata serviceTier additionalModelRequestFields',
    ),
  ),
]

const functionsIn = (content: Body, kind: 'functionCall' | 'functionResponse'): readonly Body[] =>
  (content?.parts ?? []).flatMap((part: Body) => part[kind] ?? [])

/** ai.google.dev: "Function calling", "Thinking", "Thought signatures", "What's new in Gemini 3.6 Flash"; github.com/LibreChat-AI/agents, pull request 323. */
const GEMINI: readonly Rule[] = [
  rule('Please use a valid role: user, model.', ({ contents }) =>
    contents.some(({ role }: Body) => !['user', 'model'].includes(role)),
  ),
  rule('parts must not be empty', ({ contents }) =>
    contents.some(({ parts }: Body) => parts.length === 0 || parts.some(({ text }: Body) => text === '')),
  ),
  rule('function call turn comes immediately after a user turn or after a function response turn', ({ contents }) =>
    contents.some(
      (content: Body, index: number) => functionsIn(content, 'functionCall').length > 0 && contents[index - 1]?.role !== 'user',
    ),
  ),
  rule('the number of function response parts is equal to the number of function call parts', ({ contents }) =>
    contents.some((content: Body, index: number) => {
      const asked = functionsIn(content, 'functionCall')
      const given = functionsIn(contents[index + 1], 'functionResponse')
      if (asked.length > 0) return asked.length !== given.length || asked.some(({ name }, at) => given[at]?.name !== name)
      return functionsIn(content, 'functionResponse').length > 0 && functionsIn(contents[index - 1], 'functionCall').length === 0
    }),
  ),
  rule(
    'Requests ending with a model turn are not supported.',
    ({ contents }, model) => /3\.6|3\.5-flash-lite|3\.8/.test(model) && contents.at(-1).role === 'model',
  ),
  rule('Invalid function name.', ({ tools = [], contents }) =>
    [
      ...tools.flatMap(({ functionDeclarations: all }: Body) => all.map(({ name }: Body) => name)),
      ...contents.flatMap((content: Body) => functionsIn(content, 'functionCall').map(({ name }) => name)),
    ].some((name: string) => !/^[A-Za-z_][\w.:-]{0,63}$/.test(name)),
  ),
  rule(
    'Function call is missing a thought_signature in functionCall parts.',
    ({ contents }, model) =>
      /gemini-3/.test(model) &&
      contents.some(({ parts }: Body) => {
        const first = parts.find(({ functionCall }: Body) => functionCall)
        return first !== undefined && first.thoughtSignature === undefined
      }),
  ),
  rule(
    'Function calling with a response mime type: application/json is unsupported',
    ({ tools, generationConfig: config = {} }, model) =>
      tools !== undefined && config.responseMimeType !== undefined && /gemini-2/.test(model),
  ),
  rule(
    'Forced function calling with a response mime type is unsupported',
    ({ toolConfig, generationConfig: config = {} }) =>
      toolConfig?.functionCallingConfig.mode === 'ANY' && config.responseMimeType !== undefined,
  ),
  rule('allowed_function_names should only be set when the function calling mode is ANY', ({ toolConfig }) => {
    const { mode, allowedFunctionNames: names } = toolConfig?.functionCallingConfig ?? {}
    return names !== undefined && mode !== 'ANY'
  }),
  rule(
    'You can only set only one of thinking budget and thinking level',
    ({ generationConfig: { thinkingConfig: thinking = {} } = {} }, model) => {
      const { thinkingBudget: budget, thinkingLevel: level } = thinking
      if (budget !== undefined && level !== undefined) return true
      if (/gemini-2\.0/.test(model)) return Object.keys(thinking).length > 0
      return /gemini-2\.5/.test(model) ? level !== undefined : budget !== undefined
    },
  ),
  rule(
    'Thinking level is not supported for this model.',
    ({ generationConfig: { thinkingConfig: { thinkingLevel: level } = {} as Body } = {} }, model) =>
      level !== undefined && !(/flash/.test(model) ? ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] : ['LOW', 'HIGH']).includes(level),
  ),
  rule(
    'The thinking budget is invalid: it must be in the range of 128 to 32768',
    ({ generationConfig: { thinkingConfig: { thinkingBudget: budget } = {} as Body } = {} }, model) =>
      /2\.5-pro/.test(model) && budget !== undefined && budget !== -1 && (budget < 128 || budget > 32_768),
  ),
  rule(
    'at most 5 stop sequences',
    ({ generationConfig: { stopSequences = [] } = {} }) => stopSequences.length > 5 || stopSequences.includes(''),
  ),
  rule('temperature: 0..2', ({ generationConfig: { temperature = 0 } = {} }) => temperature < 0 || temperature > 2),
  rule(
    'Multiple candidates is not enabled for this model',
    ({ generationConfig: { candidateCount = 1 } = {} }, model) => candidateCount > (/gemini-2/.test(model) ? 8 : 1),
  ),
  rule('Unable to submit request because the mime type is empty', ({ contents }) =>
    valuesOf(contents, 'inlineData').some((data) => !(data as Body).mimeType),
  ),
  rule('Unknown name: Cannot find field.', (body) =>
    unknownIn(
      body,
      'contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels serviceTier',
    ),
  ),
]

const GEMINI_API: readonly Rule[] = [
  ...GEMINI,
  rule(
    'Penalty is not enabled for this model',
    ({ generationConfig: config = {} }, model) =>
      /gemini-(2\.5|3)/.test(model) && (config.frequencyPenalty !== undefined || config.presencePenalty !== undefined),
  ),
]

const STEP_MEMBERS: Readonly<Record<string, string>> = {
  user_input: 'type content',
  model_output: 'type content',
  thought: 'type signature summary',
  function_call: 'type id name arguments',
  function_result: 'type call_id name result is_error',
}

/**
 * Types of @google/genai 3.3 and "API errors", ai.google.dev: `parameter_unknown`, and what the model is known to refuse. An interaction that were stored would be
 * kept by Google.
 */
const GEMINI_INTERACTIONS: readonly Rule[] = [
  rule('parameter_unknown', (body) =>
    unknownIn(
      body,
      'model input system_instruction tools response_format generation_config service_tier safety_settings store stream',
    ),
  ),
  rule('parameter_unknown: generation_config', ({ generation_config: config = {} }) =>
    unknownIn(config, 'max_output_tokens temperature top_p seed stop_sequences thinking_level thinking_summaries tool_choice'),
  ),
  rule('store: the interaction would be kept', ({ store }) => store !== false),
  rule('parameter_unknown: a step', ({ input }) =>
    input.some((step: Body) => STEP_MEMBERS[step.type] === undefined || unknownIn(step, STEP_MEMBERS[step.type]!)),
  ),
  rule('content must not be empty', ({ input }) =>
    input.some(({ content }: Body) => content?.length === 0 || content?.some(({ text }: Body) => text === '')),
  ),
  rule('an interaction begins with the user', ({ input }) => input[0].type !== 'user_input'),
  rule('a result without a call, a call without a result, or two calls of one id', ({ input }) => {
    const ids = (type: string, id: string) => input.filter((step: Body) => step.type === type).map((step: Body) => step[id])
    const [calls, results] = [ids('function_call', 'id'), ids('function_result', 'call_id')]
    return (
      new Set(calls).size < calls.length || calls.length !== results.length || !results.every((id: string) => calls.includes(id))
    )
  }),
  rule(
    'Requests ending with a model turn are not supported.',
    ({ input }, model) => /3\.6|3\.5-flash-lite|3\.8/.test(model) && input.at(-1).type === 'model_output',
  ),
  rule('Invalid function name.', ({ tools = [] }) =>
    tools.some(({ type, name }: Body) => type === 'function' && !/^[A-Za-z_][\w.:-]{0,63}$/.test(name)),
  ),
  rule(
    'thinking_level: minimal, low, medium, high',
    ({ generation_config: { thinking_level: level } = {} as Body }) =>
      level !== undefined && !['minimal', 'low', 'medium', 'high'].includes(level),
  ),
  rule('stop_sequences must not be empty', ({ generation_config: { stop_sequences: stop = [] } = {} as Body }) =>
    stop.includes(''),
  ),
  rule('a medium without its type', ({ input }) =>
    input.some(({ content }: Body) => content?.some(({ data, mime_type: type }: Body) => data !== undefined && !type)),
  ),
  rule('response_format with a tool that must be called', ({ response_format: format, generation_config: config = {} }) => {
    const choice = config.tool_choice
    return format !== undefined && (choice === 'any' || choice?.allowed_tools?.mode === 'any')
  }),
]

/** It pairs calls and results by their order, and takes penalties of some models. */
const VERTEX_GEMINI: readonly Rule[] = [
  ...GEMINI,
  rule('Unknown name "id"', ({ contents }) =>
    contents.some((content: Body) =>
      [...functionsIn(content, 'functionCall'), ...functionsIn(content, 'functionResponse')].some((each) => 'id' in each),
    ),
  ),
]

/** docs.cohere.com, "Chat" and "Usage patterns for tool use"; the name of a tool: `CohereToolV2`, docs.oracle.com. */
const COHERE: readonly Rule[] = [
  rule('unknown field', (body) =>
    unknownIn(
      body,
      `model messages stream max_tokens temperature p k seed stop_sequences frequency_penalty presence_penalty tools tool_choice response_format
      thinking strict_tools`.replaceAll(/\s+/g, ' '),
    ),
  ),
  rule('invalid role', ({ messages }) =>
    messages.some(({ role }: Body) => !['system', 'user', 'assistant', 'tool'].includes(role)),
  ),
  rule('all elements in messages must have content', ({ messages }) =>
    messages.some((message: Body) => message.role !== 'assistant' && (blank(message.content) || blocksOf(message).length === 0)),
  ),
  rule('assistant without content and tool calls', ({ messages }) =>
    messages.some(
      ({ role, content, tool_calls: own = [] }: Body) => role === 'assistant' && own.length === 0 && !content?.length,
    ),
  ),
  rule('tool call ids must be unique, and each must have its result', ({ messages }) => {
    const asked = messages.flatMap(({ tool_calls: own = [] }: Body) => own.map(({ id }: Body) => id))
    const given = messages.flatMap(({ tool_call_id: id }: Body) => id ?? [])
    return !isUnique(asked) || asked.length !== given.length || given.some((id: string) => !asked.includes(id))
  }),
  rule('invalid tool name', ({ tools = [], messages }) =>
    [...tools, ...messages.flatMap(({ tool_calls: own = [] }: Body) => own)].some(
      ({ function: { name } }: Body) => !/^[A-Za-z_][\w-]{0,63}$/.test(name),
    ),
  ),
  rule('parameters are required', ({ tools = [] }) =>
    tools.some(({ function: { parameters } }: Body) => parameters?.type !== 'object'),
  ),
  rule("parameter 'strict' is not a valid field", ({ tools = [] }) => tools.some((tool: Body) => 'strict' in tool.function)),
  rule(
    'cannot specify response_format with tools',
    ({ tools, response_format: format }) => tools !== undefined && format !== undefined,
  ),
  rule('temperature: 0..1', ({ temperature = 0 }) => temperature < 0 || temperature > 1),
  rule('p: 0.01..0.99', ({ p = 0.5 }) => p < 0.01 || p > 0.99),
  rule(
    'frequency_penalty and presence_penalty: 0..1, not both',
    ({ frequency_penalty: one, presence_penalty: other }) =>
      [one, other].some((value) => value < 0 || value > 1) || (one !== undefined && other !== undefined),
  ),
  rule('stop_sequences: at most 5', ({ stop_sequences: stop = [] }) => stop.length > 5),
  rule('thinking is not supported by this model', ({ thinking }, model) => thinking !== undefined && !/reasoning/.test(model)),
  rule('images are the user’s', ({ messages }) =>
    messages.some((message: Body) => message.role !== 'user' && blocksOf(message).some(({ type }) => type === 'image_url')),
  ),
]

/** github.com/ollama/ollama, docs/api.md and api/types.go. */
const OLLAMA: readonly Rule[] = [
  rule('invalid role', ({ messages }) =>
    messages.some(({ role }: Body) => !['system', 'user', 'assistant', 'tool'].includes(role)),
  ),
  rule('cannot unmarshal array into Go struct field content of type string', ({ messages }) =>
    messages.some(({ content }: Body) => typeof content !== 'string'),
  ),
  rule('cannot unmarshal string into Go struct field arguments', ({ messages }) =>
    messages.some(({ tool_calls: own = [] }: Body) =>
      own.some(({ function: called }: Body) => typeof called.arguments !== 'object'),
    ),
  ),
  rule('illegal base64 data', ({ messages }) =>
    messages.some(({ images = [] }: Body) => images.some((image: string) => !/^[A-Za-z0-9+/]+=*$/.test(image))),
  ),
  rule('does not support thinking', ({ think }, model) => think !== undefined && think !== false && !/gpt-oss/.test(model)),
  rule(
    'invalid think value',
    ({ think }) => think !== undefined && ![true, false, 'low', 'medium', 'high', 'max'].includes(think),
  ),
]

/** What OpenAI's models take of efforts in chat completions, and whether beside tools: learn.microsoft.com, "Azure OpenAI reasoning models". */
const EFFORTS: readonly (readonly [models: RegExp, efforts: string])[] = [
  [/^gpt-6-astra/, 'low medium high xhigh'],
  [/^gpt-5\.4/, 'none low medium high xhigh'],
  [/^gpt-5/, 'minimal low medium high'],
  [/./, ''],
]
const effortsOf = (model: string): readonly string[] => EFFORTS.find(([models]) => models.test(model))![1].split(' ')
const isReasoning = (model: string): boolean => /^gpt-[56]/.test(model)

/** platform.openai.com, "Function calling", "Structured outputs", "Reasoning models". */
const OPENAI_NAME = /^[a-zA-Z0-9_-]{1,64}$/

const OPENAI_CHAT: readonly Rule[] = [
  rule('Unknown parameter', (body) =>
    unknownIn(
      body,
      `model messages stream stream_options max_tokens max_completion_tokens temperature top_p n stop tools tool_choice parallel_tool_calls
      response_format reasoning_effort verbosity seed logprobs top_logprobs logit_bias frequency_penalty presence_penalty user store metadata
      prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier modalities web_search_options functions
      function_call`.replaceAll(/\s+/g, ' '),
    ),
  ),
  rule('Unknown parameter: messages[1]', ({ messages }) =>
    messages.some((message: Body) =>
      unknownIn(message, 'role content name refusal tool_calls tool_call_id audio function_call annotations'),
    ),
  ),
  rule('Unknown parameter: tools[0]', ({ tools = [], messages }) =>
    [...tools, ...messages.flatMap(({ tool_calls: own = [] }: Body) => own)].some((tool: Body) =>
      unknownIn(tool, 'id type function custom'),
    ),
  ),
  rule('An assistant message with tool_calls must be followed by tool messages responding to each tool_call_id', ({ messages }) =>
    messages.some(({ tool_calls: own = [] }: Body, index: number) => {
      const ids = own.map(({ id }: Body) => id)
      const given = messages.slice(index + 1, index + 1 + ids.length).map(({ tool_call_id: id }: Body) => id)
      return ids.some((id: string) => !given.includes(id))
    }),
  ),
  rule('messages with role tool must be a response to a preceding message with tool_calls', ({ messages }) => {
    const asked = messages.flatMap(({ tool_calls: own = [] }: Body) => own.map(({ id }: Body) => id))
    return messages.some(({ role, tool_call_id: id }: Body) => role === 'tool' && !asked.includes(id))
  }),
  rule(
    "Invalid 'tools[0].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$', or is too long",
    ({ tools = [], messages }) =>
      [...tools, ...messages.flatMap(({ tool_calls: own = [] }: Body) => own)].some(
        (tool: Body) => !OPENAI_NAME.test((tool.function ?? tool.custom).name),
      ),
  ),
  rule('Invalid schema for function: object schema missing properties', ({ tools = [] }) =>
    tools.some(
      ({ function: own }: Body) =>
        own?.parameters !== undefined && (own.parameters.type !== 'object' || own.parameters.properties === undefined),
    ),
  ),
  rule("Invalid 'tools': empty array", ({ tools }) => tools?.length === 0),
  rule(
    "'tool_choice' is only allowed when 'tools' are specified.",
    ({ tools, tool_choice: choice }) => choice != null && tools === undefined,
  ),
  rule("Unsupported parameter: 'max_tokens'", ({ max_tokens: most }, model) => most !== undefined && isReasoning(model)),
  rule(
    "Unsupported value: 'reasoning_effort'",
    ({ reasoning_effort: effort }, model) => effort !== undefined && !effortsOf(model).includes(effort),
  ),
  rule(
    'Function tools with reasoning_effort are not supported in /v1/chat/completions.',
    ({ reasoning_effort: effort = 'none', tools }, model) =>
      tools !== undefined && (/^gpt-6-astra/.test(model) || (/^gpt-5\.4/.test(model) && effort !== 'none')),
  ),
  rule(
    "Unsupported value: 'temperature'",
    ({ temperature = 1, top_p: topP = 1, reasoning_effort: effort }, model) =>
      isReasoning(model) && (temperature !== 1 || topP !== 1) && !(/^gpt-5\.4/.test(model) && (effort ?? 'none') === 'none'),
  ),
  rule("Unsupported parameter: 'stop'", ({ stop }, model) => stop != null && isReasoning(model)),
  rule("Invalid 'stop': array too long, at most 4", ({ stop }) => [stop ?? []].flat().length > 4),
  rule(
    'Invalid schema for response_format: additionalProperties is required to be supplied and to be false',
    ({ response_format: format }) =>
      format?.json_schema?.strict === true &&
      someSchema(
        format.json_schema.schema,
        ({ type, properties, additionalProperties: more }) => type === 'object' && properties && more !== false,
      ),
  ),
  rule("Invalid 'messages[0].content': empty array", ({ messages }) =>
    messages.some(({ content }: Body) => Array.isArray(content) && content.length === 0),
  ),
  rule('images are the user’s', ({ messages }) =>
    messages.some((message: Body) => message.role !== 'user' && blocksOf(message).some(({ type }) => type === 'image_url')),
  ),
]

const OPENAI_RESPONSES: readonly Rule[] = [
  rule('Unknown parameter', (body) =>
    unknownIn(
      body,
      `model input instructions stream store include max_output_tokens tools tool_choice parallel_tool_calls reasoning text temperature top_p
      top_logprobs metadata user service_tier safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention truncation`.replaceAll(
        /\s+/g,
        ' ',
      ),
    ),
  ),
  rule("Invalid 'max_output_tokens': Expected a value >= 16", ({ max_output_tokens: most = 16 }) => most < 16),
  rule('No tool output found for function call, or no call for an output', ({ input }) => {
    if (typeof input === 'string') return false
    const ids = (type: string): readonly string[] =>
      input.filter((item: Body) => item.type === type).map(({ call_id: id }: Body) => id)
    return String([...ids('function_call')].sort()) !== String([...ids('function_call_output')].sort())
  }),
  rule("Invalid 'tools[0].name': string does not match pattern", ({ tools = [], input }) =>
    [
      ...tools.filter(({ type }: Body) => type === 'function'),
      ...[input].flat().filter(({ type }: Body) => type === 'function_call'),
    ].some(({ name }: Body) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name)),
  ),
  rule('Invalid schema for function', ({ tools = [] }) =>
    tools.some(
      (tool: Body) =>
        tool.type === 'function' && (tool.parameters?.type !== 'object' || tool.parameters.properties === undefined),
    ),
  ),
  rule(
    "Unsupported value: 'reasoning.effort'",
    ({ reasoning }, model) =>
      reasoning?.effort != null && ![...effortsOf(model), ...(/^gpt-6/.test(model) ? ['max'] : [])].includes(reasoning.effort),
  ),
  rule(
    "Unsupported parameter: 'temperature'",
    ({ temperature, reasoning }, model) =>
      isReasoning(model) &&
      temperature !== undefined &&
      temperature !== 1 &&
      !(/^gpt-5\.4/.test(model) && (reasoning?.effort ?? 'none') === 'none'),
  ),
  rule('text of the assistant is output_text, that of others input_text', ({ input }) =>
    [input]
      .flat()
      .some(({ role, content }: Body) =>
        [content ?? []]
          .flat()
          .some(
            ({ type }: Body) => type !== undefined && /_text$/.test(type) && (type === 'output_text') !== (role === 'assistant'),
          ),
      ),
  ),
]

/** The rules of each API, by a name of it. */
export const NATIVE_RULES = {
  anthropic: ANTHROPIC,
  'vertex-claude': VERTEX_CLAUDE,
  invoke: INVOKE,
  converse: CONVERSE,
  gemini: GEMINI_API,
  'gemini-interactions': GEMINI_INTERACTIONS,
  'vertex-gemini': VERTEX_GEMINI,
  cohere: COHERE,
  ollama: OLLAMA,
  'openai-chat': OPENAI_CHAT,
  'openai-responses': OPENAI_RESPONSES,
} as const satisfies Readonly<Record<string, readonly Rule[]>>

/** What an API refuses of a request; undefined if it takes it. */
export const refusalOf = (
  api: keyof typeof NATIVE_RULES,
  body: unknown,
  model: string,
  headers: Readonly<Record<string, unknown>>,
): string | undefined => NATIVE_RULES[api].find((each) => each.breaks(body, model, headers))?.what
