// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { json, type ReceivedRequest, type Script, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { Cluster } from '../processes/cluster.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { ask } from '../sdk/dialect.ts'
import { openai } from '../sdk/openai-dialect.ts'

const OPS = 'sk-live-irZTVfCwhKeI4iywS5HQG4whmyW55h0ds29Q'
const ENV = { KEY_A: 'key-of-a', KEY_B: 'key-of-b' }
const credentials = { a: { apiKey: '${env:KEY_A}' }, b: { apiKey: '${env:KEY_B}' } }
const NAMES = ['one', 'two', 'three'] as const

/** An upstream replies with its name, and that of the credential: the place of a call. */
const repliesOf =
  (name: string) =>
  ({ path, headers }: ReceivedRequest): Script => {
    if (path.includes('/models')) return json({ data: [] })
    const place = `${name} ${String(headers.authorization ?? headers['x-api-key']).slice(-1)}`
    return json((path.endsWith('/messages') ? anthropic : openai).whole({ text: [place] }))
  }

async function upstreamNamed(name: string): Promise<ScriptedUpstream> {
  const upstream = await scriptedUpstream()
  upstream.on(repliesOf(name))
  return upstream
}

const idsOf = (count: number, prefix = 'conversation'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

/** What a client sends in addition to a plain request. */
interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** How clients name a conversation, by what explanations call it. */
const SIGNALS: Readonly<Record<string, (id: string) => Sent>> = {
  'x-claude-code-session-id': (id) => ({ headers: { 'X-Claude-Code-Session-Id': id } }),
  'thread-id': (id) => ({ headers: { 'thread-id': id, 'session-id': 'of all threads' } }),
  'session-id': (id) => ({ headers: { 'session-id': id } }),
  session_id: (id) => ({ headers: { session_id: id } }),
  conversation_id: (id) => ({ headers: { conversation_id: id } }),
  'x-opencode-session': (id) => ({ headers: { 'x-opencode-session': id } }),
  'x-session-id': (id) => ({ headers: { 'X-Session-Id': id, 'x-session-affinity': id } }),
  'x-session-affinity': (id) => ({ headers: { 'x-session-affinity': id } }),
  'x-kilo-session': (id) => ({ headers: { 'x-kilo-session': id } }),
  'x-kilocode-taskid': (id) => ({ headers: { 'X-KiloCode-TaskId': id } }),
  'x-roo-task-id': (id) => ({ headers: { 'X-Roo-Task-ID': id } }),
  'x-task-id': (id) => ({ headers: { 'X-Task-ID': id } }),
  'x-client-session-id': (id) => ({ headers: { 'X-Client-Session-Id': id } }),
  'x-interaction-id': (id) => ({ headers: { 'x-interaction-id': id } }),
  'x-amp-thread-id': (id) => ({ headers: { 'X-Amp-Thread-Id': id } }),
  'x-mux-workspace-id': (id) => ({ headers: { 'X-Mux-Workspace-Id': id } }),
  'x-coder-chat-id': (id) => ({ headers: { 'X-Coder-Chat-Id': id } }),
  'x-openwebui-chat-id': (id) => ({ headers: { 'X-OpenWebUI-Chat-Id': id } }),
  prompt_cache_key: (id) => ({ body: { prompt_cache_key: id } }),
  metadata: (id) => ({ body: { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: id }) } } }),
}

describe('The same conversation', () => {
  let upstreams: readonly ScriptedUpstream[]
  let gateway: TestGateway

  before(async () => {
    upstreams = await Promise.all(NAMES.map(upstreamNamed))
    const namespaces = upstreams.map(({ origin }, index) => [
      NAMES[index]!,
      { provider: 'openai-compatible', config: { baseUrl: `${origin}/v1` }, credentials },
    ])
    const targets = NAMES.map((name) => ({ model: `${name}/m` }))
    gateway = await startTestGateway({
      env: ENV,
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: 'explain', config: { keys: ['routes:ops'] } }],
        namespaces: {
          ...Object.fromEntries(namespaces),
          claude: { provider: 'anthropic', config: { baseUrl: upstreams[0]!.origin }, credentials },
          turns: {
            provider: 'openai-compatible',
            config: { baseUrl: `${upstreams[0]!.origin}/v1` },
            credentials,
            sticky: 'none',
          },
          acme: {
            models: {
              smart: { targets },
              weighed: { targets: [{ model: 'one/m', weight: 8 }, { model: 'two/m' }, { model: 'three/m' }] },
              prompts: { targets, sticky: 'prompt' },
              none: { targets, sticky: 'none' },
            },
          },
        },
        keys: [{ name: 'ops', kind: 'live', hash: `sha256:${digestOf(OPS)}`, models: ['*'] }],
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await Promise.all((upstreams ?? []).map((upstream) => upstream.close()))
  })

  async function call(model: string, { headers, body }: Sent = {}, key = OPS) {
    const reply = await gateway.fetch('/v1/chat/completions', {
      json: { ...ask(openai), model, ...body },
      key,
      headers: { 'x-umg-explain': '1', ...headers },
    })
    const { choices } = (await reply.json()) as { choices: { message: { content: string } }[] }
    return { place: choices[0]!.message.content, affinity: reply.headers.get('x-umg-affinity') }
  }

  const placesOf = (model: string, sent: readonly Sent[], key?: string): Promise<string[]> =>
    Promise.all(sent.map(async (each) => (await call(model, each, key)).place))

  for (const [name, sentWith] of Object.entries(SIGNALS)) {
    it(`keeps to its target and credential by ${name}`, async () => {
      const sent = idsOf(8, name).map(sentWith)
      const places = await placesOf('acme/smart', sent)
      expect(await placesOf('acme/smart', sent)).to.deep.equal(places)
      expect(new Set(places)).to.have.property('size').above(1)
      const { affinity } = await call('acme/smart', sent[0])
      expect(affinity).to.equal(`target by ${name}, credential by ${name}`)
    })
  }

  it('is another one for each agent of Claude Code', async () => {
    const headers = idsOf(12).map((id) => ({ 'x-claude-code-session-id': 'one', 'x-claude-code-agent-id': id }))
    const sent = headers.map((each) => ({ headers: each }))
    const places = await placesOf('acme/smart', sent)
    expect(new Set(places).size).to.be.above(1)
    expect(await placesOf('acme/smart', sent)).to.deep.equal(places)
  })

  it('is named by the old user_id of Claude Code, but not by a user alone', async () => {
    const userIds = [`user_1_account_2_session_${crypto.randomUUID()}`, 'user-1']
    const named = await Promise.all(userIds.map((user_id) => call('acme/smart', { body: { metadata: { user_id } } })))
    expect(named.map(({ affinity }) => affinity)).to.deep.equal(['target by metadata, credential by metadata', null])
  })

  it('is named in a large body too', async () => {
    const messages = [{ role: 'user', content: 'Some text. '.repeat(3000) }]
    const sent = idsOf(8, 'large').map((id) => ({ body: { messages, prompt_cache_key: id } }))
    const places = await placesOf('acme/smart', sent)
    expect(
      await placesOf(
        'acme/smart',
        sent.map(({ body }) => ({ body: { prompt_cache_key: body.prompt_cache_key } })),
      ),
    ).to.deep.equal(places)
  })

  it('is the same one for clients of Messages and of Responses', async () => {
    const ids = idsOf(8, 'protocols')
    const places = await placesOf(
      'acme/smart',
      ids.map((id) => ({ headers: { 'session-id': id } })),
    )
    const bodies = {
      '/v1/messages': { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
      '/v1/responses': { input: 'Hi' },
    }
    for (const [path, body] of Object.entries(bodies)) {
      const texts = await Promise.all(
        ids.map(async (id) => {
          const reply = await gateway.fetch(path, {
            json: { model: 'acme/smart', ...body },
            headers: { 'session-id': id },
            key: OPS,
          })
          return reply.text()
        }),
      )
      for (const [index, text] of texts.entries()) expect(text).to.include(`"${places[index]!}"`)
    }
  })

  it('of another account is another one, although it has the same id', async () => {
    const sent = idsOf(12).map((id) => ({ headers: { 'x-session-id': id } }))
    const places = await placesOf('acme/smart', sent, await gateway.key())
    expect(await placesOf('acme/smart', sent, await gateway.key())).to.deep.equal(places)
    const { id } = await createAccount(gateway.store, { name: 'Other', models: ['*'], rateClass: null }, GATEWAY)
    expect(await placesOf('acme/smart', sent, await gateway.key({ account: id }))).to.not.deep.equal(places)
  })

  it('is not named by what is empty, or longer than an id', async () => {
    for (const id of ['', 'x'.repeat(300)])
      expect((await call('acme/smart', { headers: { 'x-session-id': id }, body: { prompt_cache_key: id } })).affinity).to.equal(
        null,
      )
  })

  it('keeps to a credential of a model without targets of its own', async () => {
    const ids = idsOf(8)
    for (const id of ids) {
      const reply = await Promise.all(
        [1, 2, 3].map(() =>
          gateway.fetch('/v1/messages', {
            json: { model: 'claude/m', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
            headers: { 'x-claude-code-session-id': id },
            key: OPS,
          }),
        ),
      )
      const texts = await Promise.all(
        reply.map(async (each) => ((await each.json()) as { content: { text: string }[] }).content[0]!.text),
      )
      expect(new Set(texts).size).to.equal(1)
    }
  })

  it('shares the targets with others by their weights', async () => {
    const places = await placesOf(
      'acme/weighed',
      idsOf(200).map((id) => ({ headers: { 'x-session-id': id } })),
    )
    const first = places.filter((place) => place.startsWith('one')).length
    expect(first / 200).to.be.closeTo(0.8, 0.1)
  })

  it('takes turns, and any target, where it is not to keep to one', async () => {
    const sent = Array.from({ length: 12 }, () => ({ headers: { 'x-session-id': 'one' } }))
    const turns = []
    for (const each of sent.slice(0, 4)) turns.push((await call('turns/m', each)).place)
    expect(turns).to.deep.equal(['one a', 'one b', 'one a', 'one b'])
    const targets = (await placesOf('acme/none', sent)).map((place) => place.split(' ')[0])
    expect(new Set(targets).size).to.be.above(1)
  })

  it('leaves the turns of the credentials to calls that name none', async () => {
    const places = []
    for (let count = 0; count < 3; count++) {
      await call('one/m', { headers: { 'x-session-id': 'one' } })
      places.push((await call('one/m')).place)
    }
    expect(new Set(places).size).to.equal(2)
  })

  it('is known by its first messages, if the operator says so', async () => {
    const beginnings = (marks: object) =>
      idsOf(8).map((text) => [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text, ...marks }] },
      ])
    const targetsOf = (all: readonly { readonly place: string }[]) => all.map(({ place }) => place.split(' ')[0])
    const newest = beginnings({ cache_control: { type: 'ephemeral' } })
    const first = await Promise.all(newest.map((messages) => call('acme/prompts', { body: { messages } })))
    expect(new Set(targetsOf(first)).size).to.be.above(1)
    expect(first[0]!.affinity).to.equal('target by first messages')
    const rest = [
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'More of it. '.repeat(2000) },
    ]
    const later = beginnings({}).map((begin) => call('acme/prompts', { body: { messages: [...begin, ...rest] } }))
    expect(targetsOf(await Promise.all(later))).to.deep.equal(targetsOf(first))
  })
})

/** Conversations, and the turns of each. */
const CONVERSATIONS = 200
const TURNS = 10
/** Calls at once. */
const AT_ONCE = 25

describe('Two hundred conversations over three targets with two credentials each, in two processes', () => {
  it('stay in their places, over a reload and the death of a target', async () => {
    await using opened = new AsyncDisposableStack()
    const upstreams = await Promise.all(NAMES.map(upstreamNamed))
    opened.defer(() => Promise.all(upstreams.map((upstream) => upstream.close())).then(() => undefined))
    const routes = `version: 1
chain: [{ plugin: auth }]
namespaces:
${upstreams.map(({ origin }, index) => `  ${NAMES[index]}: { provider: openai-compatible, config: { baseUrl: "${origin}/v1" }, credentials: ${JSON.stringify(credentials)} }`).join('\n')}
  acme: { models: { smart: { targets: [{ model: one/m }, { model: two/m }, { model: three/m }] } } }
keys: [{ name: ops, kind: live, hash: "sha256:${digestOf(OPS)}", models: ["*"] }]
`
    const cluster = await Cluster.start({ 'routes.yaml': routes }, ENV)
    opened.defer(() => cluster.stop())

    const post = (id: string, model = 'acme/smart') =>
      fetch(`${cluster.url}/v1/chat/completions`, {
        method: 'POST',
        // Each on a connection of its own: they reach both processes.
        headers: { authorization: `Bearer ${OPS}`, 'content-type': 'application/json', 'x-session-id': id, connection: 'close' },
        body: JSON.stringify({ ...ask(openai), model }),
      })
    const placeOf = async (id: string): Promise<string> => {
      const { choices } = (await (await post(id)).json()) as { choices: { message: { content: string } }[] }
      return choices[0]!.message.content
    }
    const ids = idsOf(CONVERSATIONS)
    const turn = async (): Promise<string[]> => {
      const places: string[] = []
      for (let begin = 0; begin < CONVERSATIONS; begin += AT_ONCE)
        places.push(...(await Promise.all(ids.slice(begin, begin + AT_ONCE).map(placeOf))))
      return places
    }

    const homes = await turn()
    for (const name of NAMES) {
      for (const credential of ['a', 'b'])
        expect(homes.filter((home) => home === `${name} ${credential}`).length).to.be.within(18, 50)
    }
    const isAtTwo = (place: string): boolean => place.startsWith('two')
    let meanwhile: readonly string[] | undefined
    let stayed = 0
    let available = 0
    const count = (places: readonly string[], isAvailable: (home: string) => boolean): void => {
      for (const [index, home] of homes.entries()) {
        if (!isAvailable(home)) continue
        available++
        if (places[index] === home) stayed++
      }
    }

    for (let number = 2; number <= TURNS; number++) {
      if (number === 4) {
        await cluster.home.write('routes.yaml', `${routes}aliases: { quick: acme/smart }\n`)
        await until(async () =>
          (await Promise.all(Array.from({ length: 6 }, () => post('any', 'quick')))).every(({ status }) => status === 200),
        )
      }
      const isDead = number === 6 || number === 7
      if (number === 6) upstreams[1]!.on(() => json(openai.error(500, 'No.'), { status: 500 }))
      if (number === 8) {
        upstreams[1]!.on(repliesOf('two'))
        const ofTwo = ids[homes.findIndex(isAtTwo)]!
        // Both processes have breakers of their own.
        await until(async () => (await Promise.all(Array.from({ length: 8 }, () => placeOf(ofTwo)))).every(isAtTwo))
      }
      const places = await turn()
      if (isDead) {
        expect(places.some(isAtTwo)).to.equal(false)
        // Their second places are the same at each turn.
        meanwhile ??= places
        expect(places).to.deep.equal(meanwhile)
      }
      count(places, (home) => !(isDead && isAtTwo(home)))
    }
    expect(available).to.be.above(1600)
    expect(stayed / available).to.be.at.least(0.98)
  })
})
