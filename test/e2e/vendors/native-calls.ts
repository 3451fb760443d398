/** Calls of clients as they are, or as agents and frameworks make them, for models of any vendor. */

/** A call of a client. */
export interface ClientCall {
  readonly name: string
  readonly protocol: 'chat' | 'messages' | 'responses'
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** False: no model may refuse it. */
  readonly mayRefuse?: false
  /** It has what the vendor of its protocol refuses of its own clients too. */
  readonly isOwn?: true
}

const OBJECT = { type: 'object', properties: { city: { type: 'string', minLength: 1 } }, required: ['city'] }
const CLOSED = { ...OBJECT, properties: { city: { type: 'string' } }, additionalProperties: false }
const HI = { role: 'user', content: 'Hi.' }
const PICTURE = `data:image/png;base64,${Buffer.from('picture').toString('base64')}`
const PDF = Buffer.from('%PDF-1.4').toString('base64')

/** An MCP server's tool as agents name it, one with a dot, and one without arguments. */
const LONG = `mcp__plugin_${'company_knowledge_'.repeat(4)}__search_everything`
const NAMES = { long: LONG, dotted: 'calendar.respondToEvent/now', plain: 'get_time' }

const tool = (name: string, parameters?: object) => ({
  type: 'function',
  function: { name, description: 'Does it.', ...(parameters && { parameters }) },
})
const called = (id: string, name = 'get_weather', args = '{"city":"Oslo"}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const WEATHER = tool('get_weather', OBJECT)
const LOOP = [
  HI,
  { role: 'assistant', content: 'I look.', tool_calls: [called('call_1'), called('call_2', 'get_weather', '{"city":"Rome"}')] },
  { role: 'tool', tool_call_id: 'call_2', content: 'Sun' },
  { role: 'tool', tool_call_id: 'call_1', content: '' },
]

const chat = (name: string, body: object, more: Partial<ClientCall> = {}): ClientCall => ({
  name: `chat, ${name}`,
  protocol: 'chat',
  path: '/v1/chat/completions',
  body: { messages: [HI], ...body },
  ...more,
})
const MUST = { mayRefuse: false } as const
const OWN = { isOwn: true } as const

const CHAT: readonly ClientCall[] = [
  chat('a custom tool, and its call', {
    messages: [
      HI,
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: 'x' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
    ],
    tools: [{ type: 'custom', custom: { name: 'patch', description: 'Changes files.' } }],
  }),
  chat('functions in the way before tools, and a call of them', {
    messages: [
      HI,
      { role: 'assistant', content: null, function_call: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
      { role: 'function', name: 'get_weather', content: 'Rain' },
    ],
    functions: [WEATHER.function],
    function_call: 'auto',
  }),
  chat('a tier of service, and labels', { service_tier: 'priority', metadata: { team: 'blue' } }, MUST),
  chat('a text', {}, MUST),
  chat(
    'instructions, late ones too',
    {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        HI,
        { role: 'assistant', content: 'Yes?' },
        { role: 'system', content: 'Now.' },
        HI,
      ],
    },
    MUST,
  ),
  chat('instructions alone', { messages: [{ role: 'system', content: 'Say hi.' }] }, MUST),
  chat('an assistant that speaks first', { messages: [{ role: 'assistant', content: 'Welcome!' }, HI] }, MUST),
  chat(
    'a call before any word of the user',
    { messages: [{ role: 'system', content: 'Look.' }, LOOP[1], LOOP[2], LOOP[3]], tools: [WEATHER] },
    MUST,
  ),
  chat(
    'an assistant that speaks last, with white space',
    { messages: [HI, { role: 'assistant', content: 'The answer is: \n' }] },
    MUST,
  ),
  chat(
    'an assistant that speaks last, and thinking',
    { messages: [HI, { role: 'assistant', content: 'So:' }], reasoning_effort: 'high', max_completion_tokens: 8000 },
    { ...MUST, ...OWN },
  ),
  chat('an assistant that speaks last, and a schema', {
    messages: [HI, { role: 'assistant', content: '{' }],
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: CLOSED, strict: true } },
  }),
  chat(
    'several messages of a role, and blank ones',
    {
      messages: [
        HI,
        { role: 'user', content: ' \n' },
        { role: 'assistant', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'Hello?' },
          ],
        },
      ],
    },
    { ...MUST, ...OWN },
  ),
  chat('two calls and their results in another order', { messages: LOOP, tools: [WEATHER] }, MUST),
  chat('two calls, and words after them', { messages: [...LOOP, HI], tools: [WEATHER] }, MUST),
  chat('calls whose tools are no longer offered', { messages: [...LOOP, { role: 'assistant', content: 'Sun.' }, HI] }, MUST),
  chat(
    'calls with ids of other vendors, which come twice',
    {
      messages: [
        HI,
        { role: 'assistant', content: null, tool_calls: [called('functions.get_weather:0|x')] },
        { role: 'tool', tool_call_id: 'functions.get_weather:0|x', content: 'Rain' },
        { role: 'assistant', content: null, tool_calls: [called('functions.get_weather:0|x')] },
        { role: 'tool', tool_call_id: 'functions.get_weather:0|x', content: 'Rain' },
      ],
      tools: [WEATHER],
    },
    MUST,
  ),
  chat(
    'a call without its result',
    { messages: [HI, { role: 'assistant', content: null, tool_calls: [called('call_1')] }, HI], tools: [WEATHER] },
    OWN,
  ),
  chat(
    'a result without its call',
    { messages: [HI, { role: 'tool', tool_call_id: 'call_9', content: 'Rain' }], tools: [WEATHER] },
    OWN,
  ),
  chat(
    'tools with names of any kind',
    { tools: [tool(NAMES.long, OBJECT), tool(NAMES.dotted, OBJECT), tool(NAMES.plain, { type: 'object', properties: {} })] },
    MUST,
  ),
  chat('a required tool with a long name', {
    tools: [tool(NAMES.long, OBJECT)],
    tool_choice: { type: 'function', function: { name: NAMES.long } },
  }),
  chat(
    'allowed tools with long names',
    {
      tools: [tool(NAMES.long, OBJECT), WEATHER],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: NAMES.long } }] },
      },
    },
    MUST,
  ),
  chat(
    'a loop with long names',
    {
      messages: [
        HI,
        { role: 'assistant', content: null, tool_calls: [called('call_1', NAMES.long)] },
        { role: 'tool', tool_call_id: 'call_1', name: NAMES.long, content: 'Found.' },
      ],
      tools: [tool(NAMES.long, OBJECT)],
    },
    { ...MUST, ...OWN },
  ),
  chat('tools without arguments', { tools: [tool('a'), tool('b', { type: 'object', properties: {} })] }, MUST),
  chat(
    'a tool with alternatives at the top',
    { tools: [tool('a', { type: 'object', properties: {}, anyOf: [{ required: ['x'] }, { required: ['y'] }] })] },
    MUST,
  ),
  chat(
    'a tool with references',
    {
      tools: [
        tool('a', {
          type: 'object',
          properties: { b: { $ref: '#/$defs/B' } },
          $defs: { B: { type: 'object', properties: { b: { $ref: '#/$defs/B' } } } },
        }),
      ],
    },
    MUST,
  ),
  chat('a strict tool', { tools: [{ type: 'function', function: { name: 'a', parameters: CLOSED, strict: true } }] }, MUST),
  chat('a tool that must be called', { tools: [WEATHER], tool_choice: 'required' }),
  chat(
    'a tool that must be called, and thinking',
    { tools: [WEATHER], tool_choice: 'required', reasoning_effort: 'high', max_completion_tokens: 9000 },
    OWN,
  ),
  chat('no tool may be called in a loop', { messages: LOOP, tools: [WEATHER], tool_choice: 'none' }, MUST),
  chat('one call at a time', { tools: [WEATHER], parallel_tool_calls: false }, MUST),
  ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((effort) =>
    chat(`the effort ${effort}`, { reasoning_effort: effort, max_completion_tokens: 16_000 }, { ...MUST, ...OWN }),
  ),
  chat('the effort high and tools', { reasoning_effort: 'high', tools: [WEATHER] }, { ...MUST, ...OWN }),
  chat(
    'the effort high in a loop that began without',
    { messages: LOOP, reasoning_effort: 'high', tools: [WEATHER], max_completion_tokens: 9000 },
    { ...MUST, ...OWN },
  ),
  chat(
    'the effort high with a temperature, and few tokens',
    { reasoning_effort: 'high', temperature: 0.3, max_completion_tokens: 500 },
    { ...MUST, ...OWN },
  ),
  chat(
    'a number of tokens to think with',
    { thinking: { type: 'enabled', budget_tokens: 4000 }, max_completion_tokens: 9000 },
    { ...MUST, ...OWN },
  ),
  chat(
    'a large number of tokens to think with',
    { thinking: { type: 'enabled', budget_tokens: 60_000 }, max_completion_tokens: 9000 },
    { ...MUST, ...OWN },
  ),
  chat('a temperature of 2, with top_p', { temperature: 2, top_p: 0.5 }, { ...MUST, ...OWN }),
  chat(
    'defaults that change nothing',
    {
      temperature: 1,
      top_p: 1,
      n: 1,
      stream: false,
      frequency_penalty: 0,
      presence_penalty: 0,
      logprobs: false,
      tool_choice: null,
      stop: null,
      user: 'u',
      metadata: {},
      store: false,
    },
    { ...MUST, ...OWN },
  ),
  chat(
    'penalties, a seed and ends',
    { frequency_penalty: 0.5, presence_penalty: -0.5, seed: 12_345_678_901, stop: ['END', '\n', ''] },
    { ...MUST, ...OWN },
  ),
  chat('two choices', { n: 2 }),
  chat('a schema', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: CLOSED, strict: true } } }),
  chat('a schema with open objects and bounds', {
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: OBJECT } },
  }),
  chat('a schema and tools', {
    tools: [WEATHER],
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: CLOSED } },
  }),
  chat(
    'a JSON object',
    { messages: [{ role: 'user', content: 'Answer in JSON.' }], response_format: { type: 'json_object' } },
    MUST,
  ),
  chat('a JSON object, and tools', { messages: LOOP, tools: [WEATHER], response_format: { type: 'json_object' } }),
  chat(
    'a picture',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What?' },
            { type: 'image_url', image_url: { url: PICTURE, detail: 'high' } },
          ],
        },
      ],
    },
    MUST,
  ),
  chat(
    'a picture of the assistant',
    {
      messages: [
        HI,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: PICTURE } },
          ],
        },
        HI,
      ],
    },
    OWN,
  ),
  chat('a file alone, and again', {
    messages: [1, 2].map(() => ({
      role: 'user',
      content: [{ type: 'file', file: { filename: 'Report (1).v2.pdf', file_data: `data:application/pdf;base64,${PDF}` } }],
    })),
  }),
  chat(
    'marks of caches',
    {
      messages: [1, 2, 3, 4, 5, 6]
        .map((n) => ({
          role: n % 2 ? 'user' : 'assistant',
          content: [{ type: 'text', text: `${n}.`, cache_control: { type: 'ephemeral' } }],
        }))
        .concat([HI as never]),
      tools: [{ ...WEATHER, cache_control: { type: 'ephemeral' } }],
    },
    { ...MUST, ...OWN },
  ),
  chat('a mark of the whole', { cache_control: { type: 'ephemeral' } }, { ...MUST, ...OWN }),
]

const messages = (name: string, body: object, more: Partial<ClientCall> = {}): ClientCall => ({
  name: `messages, ${name}`,
  protocol: 'messages',
  path: '/v1/messages',
  body: { max_tokens: 9000, messages: [HI], ...body },
  ...more,
})

const MARK = { cache_control: { type: 'ephemeral' } }
const CLAUDE_TOOL = { name: 'get_weather', description: 'Weather', input_schema: OBJECT }
const use = (id: string, name = 'get_weather') => ({ type: 'tool_use', id, name, input: { city: 'Oslo' } })
const result = (id: string, content: unknown = 'Rain') => ({ type: 'tool_result', tool_use_id: id, content })
const STEPS = [
  HI,
  { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, use('toolu_1'), use('toolu_2')] },
  {
    role: 'user',
    content: [result('toolu_1'), result('toolu_2', [{ type: 'text', text: 'Sun' }]), { type: 'text', text: 'And?', ...MARK }],
  },
]

/** As Claude Code 2.1 sends it: the line of its billing, marks with scopes, adaptive thinking, an effort, a context to manage. */
const CLAUDE_CODE = {
  max_tokens: 32_000,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.197.f5e; cc_entrypoint=cli;' },
    {
      type: 'text',
      text: "You are Claude Code, Anthropic's official CLI for Claude.",
      cache_control: { type: 'ephemeral', scope: 'global' },
    },
    { type: 'text', text: 'Be brief.', ...MARK },
  ],
  tools: [
    { name: 'Bash', description: 'Runs a command', input_schema: OBJECT, eager_input_streaming: true },
    { name: LONG, description: 'Searches', input_schema: { type: 'object', properties: {} } },
  ],
  metadata: { user_id: '{"device_id":"d","account_uuid":"a","session_id":"s"}' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
}

/** The values of Claude Code's header, by an API key. */
const BETAS = `claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,prompt-caching-scope-2026-01-05,effort-2025-11-24`

const CODE = [
  HI,
  { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmF0dXJl' }, use('toolu_1', 'Bash')] },
  { role: 'user', content: [{ ...result('toolu_1'), ...MARK }] },
]
const code = (name: string, body: object, more: Partial<ClientCall> = {}): ClientCall =>
  messages(
    name,
    { ...CLAUDE_CODE, ...body },
    {
      path: '/v1/messages?beta=true',
      headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': BETAS },
      mayRefuse: false,
      ...more,
    },
  )

const MESSAGES: readonly ClientCall[] = [
  messages('a text', {}, MUST),
  messages(
    'an assistant that speaks last',
    { messages: [HI, { role: 'assistant', content: 'The answer is' }] },
    { ...MUST, ...OWN },
  ),
  messages('a loop', { messages: STEPS, tools: [CLAUDE_TOOL] }, MUST),
  messages(
    'a loop, thinking',
    { messages: STEPS, tools: [CLAUDE_TOOL], thinking: { type: 'enabled', budget_tokens: 2000 } },
    { ...MUST, ...OWN },
  ),
  messages('thinking by a number', { thinking: { type: 'enabled', budget_tokens: 2000 } }, { ...MUST, ...OWN }),
  messages('no thinking', { thinking: { type: 'disabled' } }, { ...MUST, ...OWN }),
  messages('a tool that must be called', { tools: [CLAUDE_TOOL], tool_choice: { type: 'tool', name: 'get_weather' } }, OWN),
  messages('a schema', { output_config: { format: { type: 'json_schema', schema: CLOSED } } }, OWN),
  messages('a picture, and one in a result', {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
          { type: 'text', text: 'This?' },
        ],
      },
      { role: 'assistant', content: [use('toolu_1')] },
      {
        role: 'user',
        content: [result('toolu_1', [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }])],
      },
    ],
    tools: [CLAUDE_TOOL],
  }),
  messages('a document alone', {
    messages: [
      { role: 'user', content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }] },
    ],
  }),
  messages('a mark of the whole', { cache_control: { type: 'ephemeral' }, messages: STEPS, tools: [CLAUDE_TOOL] }, MUST),
  code("Claude Code's first request, adaptive", { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }, OWN),
  code(
    "Claude Code's second request, adaptive",
    { messages: CODE, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    OWN,
  ),
  code("Claude Code's request of older models", { messages: CODE, thinking: { type: 'enabled', budget_tokens: 31_999 } }, OWN),
  code("Claude Code's request without thinking", {}),
]

const responses = (name: string, body: object, more: Partial<ClientCall> = {}): ClientCall => ({
  name: `responses, ${name}`,
  protocol: 'responses',
  path: '/v1/responses',
  body: { input: 'Hi.', store: false, ...body },
  ...more,
})

const OPENAI_TOOL = { type: 'function', name: 'get_weather', parameters: OBJECT, strict: false }
const item = (id: string, name = 'get_weather') => ({ type: 'function_call', call_id: id, name, arguments: '{"city":"Oslo"}' })
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'Rain' })

const RESPONSES: readonly ClientCall[] = [
  responses('a text', {}, MUST),
  responses(
    'instructions, and an assistant that speaks last',
    { instructions: 'Be brief.', input: [HI, { role: 'assistant', content: 'So' }] },
    MUST,
  ),
  responses(
    'a loop',
    { input: [HI, item('call_1'), item('call_2'), output('call_1'), output('call_2')], tools: [OPENAI_TOOL] },
    MUST,
  ),
  responses(
    'a loop with reasoning',
    {
      input: [HI, item('call_1'), output('call_1')],
      tools: [OPENAI_TOOL],
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    },
    { ...MUST, ...OWN },
  ),
  responses('a tool that must be called', { tools: [OPENAI_TOOL], tool_choice: { type: 'function', name: 'get_weather' } }),
  responses(
    'a tool without properties',
    { tools: [{ type: 'function', name: 'a', parameters: { type: 'object' }, strict: false }] },
    { ...MUST, ...OWN },
  ),
  responses('a schema', { text: { format: { type: 'json_schema', name: 'a', schema: CLOSED, strict: true } } }),
  responses('a schema and tools', {
    tools: [OPENAI_TOOL],
    text: { format: { type: 'json_schema', name: 'a', schema: CLOSED, strict: true } },
  }),
  responses(
    'a picture',
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What?' },
            { type: 'input_image', image_url: PICTURE, detail: 'auto' },
          ],
        },
      ],
    },
    MUST,
  ),
  responses(
    "Codex' second request",
    {
      instructions: 'You are Codex.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
        item('call_1', 'shell'),
        output('call_1'),
      ],
      tools: [
        { type: 'function', name: 'shell', description: 'Runs', strict: false, parameters: OBJECT },
        {
          type: 'namespace',
          name: 'mcp__google.workspace',
          tools: [{ type: 'function', name: 'calendar.respondToEvent/now', strict: false, parameters: OBJECT }],
        },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'key-1',
    },
    { ...MUST, ...OWN },
  ),
]

/** The calls of all protocols. */
export const CALLS: readonly ClientCall[] = [...CHAT, ...MESSAGES, ...RESPONSES]
