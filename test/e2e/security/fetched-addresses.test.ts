// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { rawHttp } from '../../support/raw-http.ts'
import { watchParsing } from '../../support/watch-parsing.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'

const METADATA = 'http://169.254.169.254/latest/meta-data/'
const PUBLIC = 'https://pictures.example.com/cat.png?size=2#top'

const user = (...content: readonly object[]) => ({ messages: [{ role: 'user', content }] })

/** Calls in which an upstream would fetch an address, by path; `at`: where the error says that it is. */
const CALLS: readonly { path: string; model: string; at: string; body(address: string): object }[] = [
  ...['open/m', 'claude/m'].map((model) => ({
    path: '/chat/completions',
    model,
    at: 'messages[0].content[1].image_url.url',
    body: (url: string) => user({ type: 'text', text: 'What?' }, { type: 'image_url', image_url: { url } }),
  })),
  {
    path: '/chat/completions',
    model: 'open/m',
    at: 'messages[0].content[0].video_url.url',
    body: (url) => user({ type: 'video_url', video_url: { url } }),
  },
  {
    path: '/chat/completions',
    model: 'open/m',
    at: 'messages[0].content[0].file.file_data',
    body: (url) => user({ type: 'file', file: { file_data: url } }),
  },
  {
    path: '/chat/completions',
    model: 'open/m',
    at: 'messages[0].content[0].video[1]',
    body: (url) => user({ type: 'video', video: [PUBLIC, url] }),
  },
  {
    path: '/chat/completions',
    model: 'open/m',
    at: 'messages[0].content[0].document_url',
    body: (url) => user({ type: 'document_url', document_url: url }),
  },
  ...['open/m', 'claude/m'].map((model) => ({
    path: '/messages',
    model,
    at: 'messages[0].content[0].source.url',
    body: (url: string) => ({ max_tokens: 9, ...user({ type: 'image', source: { type: 'url', url } }) }),
  })),
  {
    path: '/messages',
    model: 'claude/m',
    at: 'mcp_servers[0].url',
    body: (url) => ({ max_tokens: 9, ...user({ type: 'text', text: 'Hi' }), mcp_servers: [{ type: 'url', name: 'a', url }] }),
  },
  ...['open/m', 'own/m'].map((model) => ({
    path: '/responses',
    model,
    at: 'input[0].content[0].image_url',
    body: (url: string) => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }),
  })),
  {
    path: '/responses',
    model: 'own/m',
    at: 'input[0].content[0].file_url',
    body: (url) => ({ input: [{ role: 'user', content: [{ type: 'input_file', file_url: url }] }] }),
  },
  {
    path: '/responses',
    model: 'own/m',
    at: 'prompt.variables.p.image_url',
    body: (url) => ({ input: 'Hi', prompt: { id: 'p', variables: { p: { type: 'input_image', image_url: url } } } }),
  },
  {
    path: '/responses',
    model: 'own/m',
    at: 'tools[0].server_url',
    body: (url) => ({ input: 'Hi', tools: [{ type: 'mcp', server_label: 'a', server_url: url }] }),
  },
  { path: '/embeddings', model: 'open/m', at: 'input[0]', body: (url) => ({ input: ['Hi'], images: [url] }) },
  {
    path: '/images/edits',
    model: 'open/m',
    at: 'images[0].image_url',
    body: (url) => ({ prompt: 'p', images: [{ image_url: url }] }),
  },
  {
    path: '/rerank',
    model: 'open/m',
    at: 'documents[0].image',
    body: (url) => ({ query: 'q', documents: [{ image: url }] }),
  },
]

/** Ways to write an address that no server on the public web has, or that parsers read differently. */
const REFUSED: readonly string[] = [
  METADATA,
  'http://2852039166/',
  'http://0xA9FEA9FE/',
  'http://0251.0376.0251.0376/',
  'http://127.1/',
  'http://[::1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[fe80::1%25eth0]/',
  'http://[fd00:ec2::254]/',
  'http://8.8.8.8/',
  'http://localhost:8080/',
  'http://LOCALHOST./',
  'http://db.internal/',
  'http://db.Internal./',
  'http://vllm/',
  'http://metadata.google.internal/',
  'http://pod.default.svc.cluster.local/',
  'http://ⓛocalhost/',
  'http://１６９．２５４．１６９．２５４/',
  'http://example.com@169.254.169.254/',
  'http://example.com\\@169.254.169.254/',
  'http://example.com#@169.254.169.254/',
  'http:169.254.169.254',
  '//169.254.169.254/',
  'ht\ttp://169.254.169.254/',
  'https://example.com/\r\nHost: x',
  'file:///etc/passwd',
  'gopher://example.com/',
  'ftp://example.com/',
  'gs://bucket/file',
  '/etc/passwd',
  `https://example.com/${'x'.repeat(9000)}`,
]

describe('An address that an upstream would fetch for a client', () => {
  let fixture: Fixture
  let own: ScriptedUpstream
  const parsing = watchParsing()
  before(async () => {
    own = await scriptedUpstream()
    const config = { baseUrl: `${own.origin}/v1`, responses: true }
    fixture = await startFixture({
      others: {
        own: { provider: 'openai-compatible', config },
        opened: { provider: 'openai-compatible', config, addresses: ['http://pictures.internal/*', 'gs://ours/*'] },
        google: {
          provider: 'gemini',
          config: { baseUrl: own.origin, apiKey: '${env:OPEN_KEY}', addresses: ['gs://theirs/*'] },
          addresses: ['gs://ours/*'],
        },
      },
    })
  })
  after(async () => {
    await fixture?.stop()
    await own?.close()
  })

  async function ask(path: string, body: object | string) {
    for (const upstream of [fixture.upstream(openai), fixture.upstream(anthropic), own]) {
      upstream.on(() => json({ error: { message: 'reached' } }, { status: 422 }))
    }
    const reply = await rawHttp(`${fixture.gateway.url}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.gateway.liveKey}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await reply.text()
    return { status: reply.status, text, param: (parsing.parse(text) as { error: { param?: string } }).error.param }
  }

  for (const { path, model, at, body } of CALLS) {
    it(`is refused in ${path} at ${at} (${model}), unless it is public or the content itself`, async () => {
      const { status, text, param } = await ask(path, { model, ...body(METADATA) })
      expect(status, text).to.equal(400)
      if (path !== '/messages') expect(param).to.equal(path === '/embeddings' ? 'images[0]' : at)
      for (const served of [PUBLIC, 'data:image/png;base64,AAAA']) {
        expect((await ask(path, { model, ...body(served) })).text, served).not.to.contain('addresses')
      }
    })
  }

  const chat = (url: string) => ({ model: 'open/m', ...user({ type: 'image_url', image_url: { url } }) })

  for (const address of REFUSED) {
    it(`is refused in any writing: ${JSON.stringify(address.slice(0, 60))}`, async () => {
      const { status, text } = await ask('/chat/completions', chat(address))
      expect(status, text).to.equal(400)
    })
  }

  it('is refused with escapes, in other cases of its member, and deep in a large body that nothing parses', async () => {
    const small = JSON.stringify(chat(METADATA))
    const large = JSON.stringify({
      ...chat(METADATA),
      messages: [{ role: 'user', content: 'x'.repeat(3 << 20) }, ...chat(METADATA).messages],
    })
    for (const body of [
      small,
      small.replace('http', '\\u0068ttp'),
      small.replaceAll('/', '\\/'),
      small.replace('"url"', '"\\u0075rl"'),
      small.replace('"url"', '"URL"'),
      small.replace('{"url":', `{"url":"${PUBLIC}","url":`),
      small.replace('"user"', `"user","x":"${'x'.repeat(20_000)}"`),
      large,
      large.replace('"image_url":', '"im\\u0061ge_url":'),
    ]) {
      const { status, text } = await ask('/chat/completions', body)
      expect(status, text + body.slice(0, 200)).to.equal(400)
    }
    expect(parsing.longest).to.be.lessThan(1 << 20)
  })

  it('is only text where nothing fetches it', async () => {
    for (const [path, body] of [
      ['/chat/completions', { model: 'open/m', messages: [{ role: 'user', content: `See ${METADATA} "url":"${METADATA}"` }] }],
      [
        '/chat/completions',
        {
          model: 'open/m',
          messages: [{ role: 'user', content: [{ type: 'text', text: METADATA }] }],
          tools: [{ type: 'function', function: { name: 'f', parameters: { examples: [{ image_url: { url: METADATA } }] } } }],
          metadata: { url: METADATA },
        },
      ],
      [
        '/messages',
        {
          model: 'claude/m',
          max_tokens: 9,
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { source: { url: METADATA } } }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: METADATA }] },
          ],
        },
      ],
      [
        '/responses',
        {
          model: 'own/m',
          input: [
            {
              type: 'message',
              role: 'assistant',
              content: [{ type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', url: METADATA }] }],
            },
          ],
          tools: [{ type: 'function', name: 'f', parameters: { default: { image_url: METADATA } } }],
        },
      ],
    ] as const) {
      const { status, text } = await ask(path, body)
      expect(status, text).to.equal(422)
    }
  })

  it('is allowed by its namespace alone, for any provider', async () => {
    for (const [model, address, status] of [
      ['opened/m', 'http://pictures.internal/a.png', 422],
      ['opened/m', 'gs://ours/a.png', 422],
      ['opened/m', 'gs://theirs/a.png', 400],
      ['own/m', 'http://pictures.internal/a.png', 400],
      ['google/gemini-3-pro', 'gs://ours/a.png', 422],
      ['google/gemini-3-pro', 'gs://theirs/a.png', 422],
      ['google/gemini-3-pro', 'gs://others/a.png', 400],
      ['google/gemini-3-pro', 'https://generativelanguage.googleapis.com/v1beta/files/a', 400],
    ] as const) {
      const reply = await ask('/chat/completions', { ...chat(address), model })
      expect(reply.status, `${model} ${address} ${reply.text}`).to.equal(status)
    }
  })

  for (const address of [
    'gs://company-private/a.pdf',
    'GS://company-private/a.pdf',
    'https://generativelanguage.googleapis.com/v1beta/files/abc',
    'https://0x7f.1/a.png',
    'https://printer/a.png',
    'https://wiki.corp/a.png',
    'https://me:secret@example.com/a.png',
  ]) {
    it(`is not read by Google with the rights of the gateway: ${address}`, async () => {
      for (const [part, member] of [
        [{ type: 'image_url', image_url: { url: address } }, 'image_url.url'],
        [{ type: 'file', file: { file_id: address } }, 'file.file_id'],
        [{ type: 'file', file: { file_data: address } }, 'file.file_data'],
      ] as const) {
        const reply = await ask('/chat/completions', { model: 'google/gemini-3-pro', ...user(part) })
        expect(reply, reply.text).to.include({ status: 400, param: `messages[0].content[0].${member}` })
      }
    })
  }

  it('is refused in a form', async () => {
    for (const [name, address] of [
      ['url', METADATA],
      ['file_url', METADATA],
    ] as const) {
      const form = new FormData()
      form.set('model', 'open/m')
      form.set(name, address)
      const reply = await fetch(`${fixture.gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${fixture.gateway.liveKey}` },
        body: form,
      })
      expect(reply.status).to.equal(400)
      expect(await reply.text()).to.contain(`"param":"${name}"`)
    }
  })
})
