// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { response } from '../responses/fixture.ts'

const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}

/** The least of each request, and the reply of its upstream. */
const ENDPOINTS = {
  '/v1/chat/completions': { base: { model: 'up/gpt-mini', messages: [{ role: 'user', content: 'Hi' }] }, reply: COMPLETION },
  '/v1/responses': { base: { model: 'up/gpt-mini', input: 'Hi', store: false }, reply: response('Hi') },
  '/v1/messages': {
    base: { model: 'claude/mini', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    reply: MESSAGE,
  },
  '/v1/completions': {
    base: { model: 'up/gpt-mini', prompt: 'Hi' },
    reply: { ...COMPLETION, choices: [{ index: 0, text: 'Hi', finish_reason: 'stop' }] },
  },
  '/v1/audio/speech': { base: { model: 'up/gpt-mini', input: 'Hi', voice: 'alloy' }, reply: {} },
  '/v1/images/edits': { base: { model: 'up/gpt-mini', prompt: 'a cat' }, reply: { data: [{ b64_json: 'AA==' }] } },
} as const

type Path = keyof typeof ENDPOINTS

const said = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const item = (entry: object) => ({ input: [{ type: 'message', role: 'user', content: 'Hi' }, entry] })
const tool = (entry: object) => ({ tools: [entry] })
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`token_${index}`, 1]))
const schema = (key: string) => ({ type: 'object', properties: { [key]: { type: 'string' } } })

/** What is refused, by its place. */
const REFUSED: readonly (readonly [Path, object, string])[] = [
  ['/v1/responses', tool({ type: 'image_generation', model: 'gpt-image-1.5' }), 'tools[0].model'],
  ['/v1/responses', { moderation: { model: 'omni' } }, 'moderation.model'],
  [
    '/v1/responses',
    item({ type: 'additional_tools', tools: [{ type: 'image_generation', model: 'x' }] }),
    'input[1].tools[0].model',
  ],
  ['/v1/responses', { conversation: 'conv_1' }, 'conversation'],
  ['/v1/responses', { prompt: { id: 'pmpt_1' } }, 'prompt'],
  ['/v1/responses', { background: true }, 'background'],
  ['/v1/responses', item({ type: 'item_reference', id: 'msg_foreign' }), 'input[1].id'],
  ['/v1/responses', item({ id: 'msg_foreign' }), 'input[1].id'],
  ['/v1/responses', item({ type: 'reasoning', id: 'rs_foreign', summary: [] }), 'input[1].id'],
  ['/v1/responses', item({ type: 'image_generation_call', id: 'ig_foreign', result: null }), 'input[1].id'],
  [
    '/v1/responses',
    item({ type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }),
    'input[1].approval_request_id',
  ],
  [
    '/v1/responses',
    { prompt_cache_options: { comparison_response_id: 'resp_foreign' } },
    'prompt_cache_options.comparison_response_id',
  ],
  ['/v1/responses', item({ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }), 'input[1].content[0].file_id'],
  ['/v1/responses', tool({ type: 'file_search', vector_store_ids: ['vs_1'] }), 'tools[0].vector_store_ids'],
  ['/v1/responses', tool({ type: 'code_interpreter', container: 'cntr_1' }), 'tools[0].container'],
  [
    '/v1/responses',
    tool({ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file_1'] } }),
    'tools[0].container.file_ids',
  ],
  [
    '/v1/responses',
    tool({ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }),
    'tools[0].environment.container_id',
  ],
  ['/v1/messages', { fallbacks: [{ model: 'claude-expensive' }] }, 'fallbacks'],
  ['/v1/messages', tool({ type: 'advisor_20260301', name: 'advisor', model: 'claude-expensive' }), 'tools[0].model'],
  ['/v1/messages', { container: 'container_1' }, 'container'],
  ['/v1/messages', { thread: { type: 'continue', previous_message_id: 'msg_1' } }, 'thread'],
  ['/v1/messages', { workspace_id: 'wrkspc_1' }, 'workspace_id'],
  ['/v1/messages', said({ type: 'image', source: { type: 'file', file_id: 'file_1' } }), 'messages[0].content[0].source.file_id'],
  ['/v1/chat/completions', said({ type: 'file', file: { file_id: 'file_1' } }), 'messages[0].content[0].file.file_id'],
  ['/v1/chat/completions', { moderation: { model: 'omni' } }, 'moderation.model'],
  [
    '/v1/chat/completions',
    {
      messages: [
        { role: 'assistant', audio: { id: 'audio_1' } },
        { role: 'user', content: 'Hi' },
      ],
    },
    'messages[0].audio.id',
  ],
  ['/v1/chat/completions', { audio: { voice: { id: 'voice_1' }, format: 'wav' } }, 'audio.voice.id'],
  ['/v1/chat/completions', { deferred: true }, 'deferred'],
  ['/v1/audio/speech', { voice: { id: 'voice_1' } }, 'voice.id'],
  ['/v1/responses', item({ type: 'item_reference', ...many(300), id: 'msg_foreign' }), 'input[1].id'],
  ['/v1/images/edits', { images: [{ file_id: 'file_1' }] }, 'images[0].file_id'],
]

/** The same by names that some servers take for them. */
const MISSPELLED: readonly (readonly [Path, object | string])[] = [
  ['/v1/responses', { Previous_Response_Id: 'resp_foreign' }],
  ['/v1/responses', { previous_reſponse_id: 'resp_foreign' }],
  ['/v1/responses', { CONVERSATION: 'conv_1' }],
  ['/v1/responses', { Background: true }],
  ['/v1/responses', tool({ type: 'image_generation', Model: 'gpt-image-1.5' })],
  ['/v1/responses', item({ type: 'item_reference', ID: 'msg_foreign' })],
  ['/v1/responses', item({ type: 'message', Type: 'item_reference', role: 'user', content: 'Hi', id: 'msg_foreign' })],
  ['/v1/messages', { Fallbacks: [{ model: 'claude-expensive' }] }],
  ['/v1/messages', tool({ type: 'advisor_20260301', name: 'advisor', Model: 'claude-expensive' })],
  ['/v1/audio/speech', { Voice: { id: 'voice_1' } }],
  ['/v1/audio/speech', { voice: { ID: 'voice_1' } }],
  ['/v1/completions', { Best_Of: 20 }],
  ['/v1/completions', { N: 20 }],
  ['/v1/chat/completions', { Max_Tokens: 100_000 }],
  ['/v1/chat/completions', { Modalities: ['audio'] }],
  ['/v1/chat/completions', { Prediction: { type: 'content', content: 'Hi' } }],
  ['/v1/chat/completions', { ſervice_tier: 'priority' }],
  ['/v1/chat/completions', { Web_Search_Options: {} }],
  ['/v1/responses', { Max_Output_Tokens: 100_000 }],
  ['/v1/responses', { Tools: [{ type: 'web_search' }] }],
  ['/v1/messages', { Speed: 'fast' }],
  ['/v1/messages', { Inference_Geo: 'us' }],
  ['/v1/messages', { MCP_SERVERS: [] }],
  ['/v1/chat/completions', said({ type: 'file', file: { File_Id: 'file_1' } })],
]

/** What looks like it, and is none of it. */
const PASSED: readonly (readonly [Path, object])[] = [
  ['/v1/responses', tool({ type: 'function', name: 'f', parameters: schema('model') })],
  ['/v1/responses', { text: { format: { type: 'json_schema', name: 'n', schema: schema('file_id') } } }],
  ['/v1/responses', tool({ type: 'code_interpreter', container: { type: 'auto' } })],
  ['/v1/responses', { moderation: { model: 'gpt-mini' } }],
  ['/v1/responses', { background: false, conversation: null, previous_response_id: null }],
  ['/v1/responses', item({ type: 'message', id: 'msg_own', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] })],
  ['/v1/responses', item({ type: 'reasoning', id: 'rs_own', summary: [], encrypted_content: 'gAAA' })],
  ['/v1/responses', item({ type: 'function_call_output', call_id: 'call_1', output: '{"file_id":"x"}' })],
  ['/v1/responses', { some_new_member: { thing: 1 } }],
  ['/v1/messages', tool({ name: 'f', input_schema: schema('model') })],
  [
    '/v1/messages',
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { model: 'x', file_id: 'y' } }] },
      ],
    },
  ],
  ['/v1/chat/completions', tool({ type: 'function', function: { name: 'f', parameters: schema('container_id') } })],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'the "file_id":"x" and "model":"y"' }] }],
  ['/v1/chat/completions', { metadata: { model: 'x' } }],
  ['/v1/chat/completions', { metadata: { Id: 'x', ID: 'y' } }],
  // More members than a body may have at its top level.
  ['/v1/chat/completions', { logit_bias: many(300) }],
  ['/v1/responses', item({ type: 'message', id: 'msg_own', role: 'user', content: 'Hi', ...many(300) })],
]

describe('a member of a request that would reach what its key may not', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let key: string
  let large: boolean

  before(async () => {
    upstream = await scriptedUpstream()
    const config = { baseUrl: `${upstream.origin}/v1`, apiKey: '${env:KEY}' }
    const up = { provider: 'openai-compatible', breaker: false, config: { ...config, responses: true } }
    const claude = { provider: 'anthropic', breaker: false, config: { ...config, baseUrl: upstream.origin } }
    gateway = await startTestGateway({
      env: { KEY: 'k' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: { up, claude, kept: { ...up, keptObjects: 'allow' } },
      },
    })
    key = await gateway.key({ models: ['up/gpt-mini', 'claude/mini', 'kept/gpt-mini'] })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  /** Text that makes a body so large that a thread scans it. */
  const filler = (): object => (large ? { metadata: { filler: 'x'.repeat(1 << 20) } } : {})

  async function ask(
    path: Path,
    more: object,
    raw?: string,
  ): Promise<{ status: number; error?: { param: string; code: string; message: string } }> {
    const body = raw ?? JSON.stringify({ ...ENDPOINTS[path].base, ...filler(), ...more })
    const reply = await gateway.fetch(path, { key, method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return { ...((await reply.json()) as object), status: reply.status }
  }

  for (const size of ['small', 'large']) {
    describe(`in a ${size} body`, () => {
      before(() => {
        large = size === 'large'
      })

      for (const [path, more, param] of REFUSED) {
        it(`is refused: ${path} ${JSON.stringify(more).slice(0, 100)}`, async () => {
          const before = upstream.requests.length
          const { status, error } = await ask(path, more)
          expect([status, upstream.requests.length]).to.deep.equal([400, before])
          expect(error?.param ?? error?.message).to.include(param)
        })
      }

      for (const [path, more] of MISSPELLED) {
        it(`is refused in another case of letters: ${path} ${JSON.stringify(more).slice(0, 100)}`, async () => {
          const before = upstream.requests.length
          const { status, error } = await ask(path, more as object)
          expect([status, upstream.requests.length]).to.deep.equal([400, before])
          expect(error?.message).to.match(/^Unknown parameter: .* the case of letters counts\.$/)
        })
      }

      for (const [path, more] of PASSED) {
        it(`is not meant: ${path} ${JSON.stringify(more).slice(0, 100)}`, async () => {
          const asked = upstream.reply(json(ENDPOINTS[path].reply))
          const { status, error } = await ask(path, more)
          expect([status, error ?? null]).to.deep.equal([200, null])
          expect((await asked).json()).to.deep.include(more)
        })
      }
    })
  }

  it('is refused with escapes in its name', async () => {
    large = false
    const raw = '{"model":"up/gpt-mini","input":"Hi","tools":[{"type":"image_generation","m\\u006fdel":"gpt-image-1.5"}]}'
    expect((await ask('/v1/responses', {}, raw)).error).to.include({ param: 'tools[0].model' })
  })

  it('is held against the list of the key, whichever of two it is', async () => {
    const raw = '{"model":"up/gpt-mini","input":"Hi","tools":[{"type":"image_generation","model":"x","model":"gpt-mini"}]}'
    const { error } = await ask('/v1/responses', {}, raw)
    expect(error?.message).to.include("Your key may not call 'up/x'")
  })

  it('reaches what the upstream keeps where the operator allows it', async () => {
    const more = { conversation: 'conv_1', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }
    expect((await ask('/v1/responses', more)).error?.message).to.include('`keptObjects: allow` of the namespace up')
    const asked = upstream.reply(json(response('Hi')))
    expect((await ask('/v1/responses', { ...more, model: 'kept/gpt-mini' })).status).to.equal(200)
    expect((await asked).json()).to.deep.include(more)
  })

  it('is left out where it only compares: the diagnostics of Claude’s cache', async () => {
    const asked = upstream.reply(json(MESSAGE))
    expect((await ask('/v1/messages', { diagnostics: { previous_message_id: 'msg_foreign' } })).status).to.equal(200)
    expect((await asked).json()).to.deep.include({ diagnostics: { previous_message_id: null } })
  })

  it('is refused in a form too', async () => {
    const form = new FormData()
    form.set('model', 'up/gpt-mini')
    form.set('file', new File(['x'], 'a.wav', { type: 'audio/wav' }))
    form.append('fallbacks[]', 'other')
    const reply = await gateway.fetch('/v1/audio/transcriptions', { key, method: 'POST', body: form })
    expect(reply.status).to.equal(400)
  })
})
