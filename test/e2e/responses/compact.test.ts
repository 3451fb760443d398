// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import OpenAI, { type APIError } from 'openai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { json, openaiReply, type ReceivedRequest, sse } from '../../../core/testing/kit.ts'
import { type ResponsesFixture, response, startFixture } from './fixture.ts'

const SUMMARY = 'The user wants a boat. It is blue.'
const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 3,
  total_tokens: 13,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 1 },
}
const WEATHER = { type: 'function' as const, name: 'weather', parameters: { type: 'object', properties: {} }, strict: false }

/** A conversation in which a tool was called. */
const TALK: ResponseInputItem[] = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'A boat, please.' }] },
  { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output: 'Sun' },
  { type: 'message', role: 'assistant', content: 'Which colour?' } as ResponseInputItem,
  { role: 'user', content: 'Blue.' },
]

/** What Codex sends (openai/codex, codex-api, `CompactionInput`): more than the published parameters of the endpoint. */
const ASKED_BY_CODEX = {
  instructions: 'You are a boat builder.',
  input: TALK,
  tools: [WEATHER, { type: 'web_search' }],
  parallel_tool_calls: true,
  reasoning: { effort: 'low', summary: 'auto' },
  text: { verbosity: 'low', format: { type: 'json_schema', name: 'city', schema: { type: 'object' }, strict: true } },
  prompt_cache_key: 'thread-1',
}

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly [member: string]: unknown
}

const sent = (request: ReceivedRequest): Sent => request.json() as Sent

describe('Conversations of /v1/responses that are compacted', () => {
  let fixture: ResponsesFixture
  let client: OpenAI

  before(async () => {
    fixture = await startFixture({
      namespaces: ({ open }) => ({
        openai: {
          provider: 'openai-compatible',
          config: { preset: 'openai', baseUrl: `${open.origin}/openai`, apiKey: '${env:KEY}' },
        },
        acme: { models: { both: { targets: [{ model: 'open/gpt' }], fallbacks: ['openai/gpt'] } } },
      }),
    })
    client = fixture.client
  })
  after(() => fixture?.stop())

  const refusal = (call: Promise<unknown>): Promise<APIError> =>
    call.then(
      () => expect.fail('it was answered'),
      (error: unknown) => error as APIError,
    )

  /** A compaction that the model of a chat upstream has made. */
  async function compacted(by = client): Promise<ResponseInputItem[]> {
    fixture.open.reply(json(openaiReply({ text: SUMMARY, usage: USAGE }).whole))
    const { output } = await by.responses.compact({ model: 'open/gpt', input: TALK })
    return output as ResponseInputItem[]
  }

  describe('by POST /v1/responses/compact', () => {
    it('are compacted by OpenAI itself, for its own models', async () => {
      const { open, gateway } = fixture
      const reply = {
        id: 'resp_1',
        object: 'response.compaction',
        created_at: 1,
        output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA' }],
        usage: { input_tokens: 10, output_tokens: 3, total_tokens: 13 },
      }
      const asked = open.reply(json(reply))
      const { data, request_id: id } = await client.responses
        .compact({ model: 'openai/gpt', ...(ASKED_BY_CODEX as object) })
        .withResponse()
      expect(data).to.deep.include(reply)
      const { path, json: body } = await asked
      expect([path, body()]).to.deep.equal(['/openai/responses/compact', { model: 'gpt', ...ASKED_BY_CODEX }])
      const line = await gateway.logged((one) => one.id === id)
      expect(line).to.deep.include({ endpoint: 'responses.compact', outcome: 'ok', estimated: false })
      expect(line.tokens).to.deep.include({ input: 10, output: 3 })
    })

    it('are summarised by any other model: the messages of the user stay, and the summary is encrypted', async () => {
      const { open, gateway } = fixture
      const asked = open.reply(json(openaiReply({ text: SUMMARY, usage: USAGE }).whole))
      const { data, request_id: id } = await client.responses
        .compact({ model: 'open/gpt', ...(ASKED_BY_CODEX as object) })
        .withResponse()
      const { messages, ...members } = sent(await asked)
      expect(messages.map(({ role }) => role)).to.deep.equal(['system', 'user', 'assistant', 'tool', 'assistant', 'user', 'user'])
      expect(messages.at(-1)!.content).to.include('summary')
      // The model must know the tools of the conversation, and call none. The format is that of an answer.
      expect(members).to.deep.include({ model: 'gpt', tool_choice: 'none', reasoning_effort: 'low' })
      expect(members.tools).to.have.length(1)
      expect(members).to.not.have.property('response_format')
      expect(data).to.deep.include({ object: 'response.compaction' })
      expect(data.usage).to.deep.include({ input_tokens: 10, output_tokens: 3, total_tokens: 13 })
      const [first, second, compaction, ...others] = data.output as unknown as Record<string, unknown>[]
      expect(others).to.deep.equal([])
      expect(first).to.deep.include({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'A boat, please.' }] })
      expect(second).to.deep.include({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Blue.' }] })
      expect(compaction).to.have.all.keys('id', 'type', 'encrypted_content').and.to.include({ type: 'compaction' })
      expect(JSON.stringify(compaction)).to.not.include(SUMMARY)
      const line = await gateway.logged((one) => one.id === id)
      expect(line).to.deep.include({ endpoint: 'responses.compact', outcome: 'ok', estimated: false })
      expect(line.tokens).to.deep.include({ input: 10, output: 3 })
    })

    it('are summarised by Claude and by Gemini', async () => {
      const { claude, gemini } = fixture
      const content = [{ type: 'text', text: SUMMARY }]
      const usage = { input_tokens: 3, output_tokens: 2 }
      const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'x', stop_reason: 'end_turn', stop_sequence: null }
      const asked = claude.reply(json({ ...head, content, usage }))
      const { output } = await client.responses.compact({ model: 'claude/claude-x', ...(ASKED_BY_CODEX as object) })
      expect(output.map(({ type }) => type as string)).to.deep.equal(['message', 'message', 'compaction'])
      const body = (await asked).json() as Record<string, unknown>
      expect(body).to.deep.include({ tool_choice: { type: 'none' } })
      expect(body).to.not.have.nested.property('output_config.format')
      const parts = [{ text: SUMMARY }]
      gemini.reply(json({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }], usageMetadata: {} }))
      const byGoogle = await client.responses.compact({ model: 'gemini/gemini-2.5-pro', ...(ASKED_BY_CODEX as object) })
      expect(byGoogle.output.map(({ type }) => type as string)).to.deep.equal(['message', 'message', 'compaction'])
    })

    it('fail if the model writes no summary', async () => {
      fixture.open.reply(json(openaiReply({ reasoning: 'Hm.', text: '' }).whole))
      const error = await refusal(client.responses.compact({ model: 'open/gpt', input: TALK }))
      expect(error).to.include({ status: 502 })
    })
  })

  describe('go on', () => {
    it('with any model of the gateway, which reads the summary as a message', async () => {
      const { open, claude } = fixture
      const output = await compacted()
      const input: ResponseInputItem[] = [...output, { role: 'user', content: 'Go on.' }]

      const chat = open.reply(json(openaiReply({ text: 'Hi' }).whole))
      await client.responses.create({ model: 'open/other', input })
      const { messages } = sent(await chat)
      expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'user', 'user', 'user'])
      expect(messages[2]!.content).to.include(SUMMARY)

      const native = open.reply(json(response('Hi')))
      const { response: head } = await client.responses.create({ model: 'native/gpt', input }).withResponse()
      const items = ((await native).json() as { readonly input: readonly Record<string, unknown>[] }).input
      expect(items.map(({ type }) => type ?? 'message')).to.deep.equal(['message', 'message', 'message', 'message'])
      expect(JSON.stringify(items[2])).to.include(SUMMARY)
      expect(head.headers.get('x-umg-params-dropped')).to.equal(null)

      const content = [{ type: 'text', text: 'Hi' }]
      const asked = claude.reply(
        json({
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'x',
          content,
          stop_reason: 'end_turn',
          usage: { input_tokens: 1, output_tokens: 1 },
        }),
      )
      await client.responses.create({ model: 'claude/claude-x', input })
      expect((await asked).body.toString()).to.include(SUMMARY)
    })

    it('also in a large request, and when they are compacted once more', async () => {
      const { open } = fixture
      const output = await compacted()
      const asked = open.reply(json(openaiReply({ text: 'All of it.' }).whole))
      const large: ResponseInputItem = { role: 'user', content: 'x'.repeat(1_200_000) }
      const again = await client.responses.compact({ model: 'open/gpt', input: [...output, large] })
      expect((await asked).body.toString()).to.include(SUMMARY)
      expect(again.output.filter(({ type }) => (type as string) === 'compaction')).to.have.length(1)
    })

    it('are refused for another account, and if their content was changed, before anything is sent', async () => {
      const { gateway, open } = fixture
      const output = await compacted()
      const before = open.requests.length
      const account = await createAccount(gateway.store, { name: 'Other', models: ['*'], rateClass: null }, GATEWAY)
      const other = gateway.openai(await gateway.key({ account: account.id })).withOptions({ maxRetries: 0 })
      const WANTED = { status: 400, code: 'invalid_encrypted_content' }
      for (const model of ['open/gpt', 'native/gpt'])
        expect(await refusal(other.responses.create({ model, input: output })), model).to.include(WANTED)
      const changed = output.map((item) =>
        item.type === 'compaction' ? { ...item, encrypted_content: item.encrypted_content.replace(/.{4}$/, 'AAAA') } : item,
      )
      for (const model of ['open/gpt', 'native/gpt'])
        expect(await refusal(client.responses.create({ model, input: changed })), model).to.include(WANTED)
      expect(open.requests.length).to.equal(before)
    })

    it('are refused if OpenAI has compacted them and another model is to go on, unless a fallback of OpenAI does', async () => {
      const { open } = fixture
      const input: ResponseInputItem[] = [
        { type: 'compaction', encrypted_content: 'gAAAA' },
        { role: 'user', content: 'Go on.' },
      ]
      const before = open.requests.length
      const error = await refusal(client.responses.create({ model: 'open/gpt', input }))
      expect(error).to.include({ status: 400, code: 'invalid_encrypted_content', param: 'input[0].encrypted_content' })
      expect(open.requests.length).to.equal(before)
      const asked = open.reply(json(response('Hi')))
      await client.responses.create({ model: 'acme/both', input })
      expect((await asked).json()).to.deep.include({ input })
    })
  })

  describe('by an item of the type compaction_trigger', () => {
    const TRIGGER = { type: 'compaction_trigger' } as ResponseInputItem

    it('are compacted in the place of an answer, whole', async () => {
      const { open } = fixture
      const asked = open.reply(json(openaiReply({ text: SUMMARY, reasoning: 'Hm.', usage: USAGE }).whole))
      const data = await client.responses.create({ model: 'open/gpt', input: [...TALK, TRIGGER], tools: [WEATHER] })
      expect(sent(await asked)).to.deep.include({ tool_choice: 'none' })
      expect(data).to.deep.include({ object: 'response', status: 'completed' })
      expect(data.output.map(({ type }) => type as string)).to.deep.equal(['compaction'])
      const next = open.reply(json(openaiReply({ text: 'Hi' }).whole))
      await client.responses.create({
        model: 'open/gpt',
        input: [...(data.output as ResponseInputItem[]), { role: 'user', content: 'Go on.' }],
      })
      expect(sent(await next).messages[0]!.content).to.include(SUMMARY)
    })

    it('are compacted in the place of an answer, streamed', async () => {
      const { open } = fixture
      open.reply(sse(openaiReply({ text: SUMMARY, reasoning: 'Hm.', usage: USAGE }).stream))
      const types: string[] = []
      const added: unknown[] = []
      const stream = await client.responses.create({ model: 'open/gpt', input: [...TALK, TRIGGER], stream: true })
      for await (const event of stream) {
        if (types.at(-1) !== event.type) types.push(event.type)
        if (event.type === 'response.output_item.done') added.push(event.item)
        if (event.type === 'response.completed') expect(event.response.output).to.deep.equal(added)
      }
      expect(types).to.deep.equal([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.compaction.compacting',
        'response.output_item.done',
        'response.completed',
      ])
      expect(added).to.have.length(1)
      expect(added[0]).to.have.all.keys('id', 'type', 'encrypted_content')
    })

    it('reach an upstream with the API as they are', async () => {
      const { open } = fixture
      const asked = open.reply(
        json({ ...response('Hi'), output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA' }] }),
      )
      const data = await client.responses.create({ model: 'native/gpt', input: [...TALK, TRIGGER], store: false })
      expect(data.output).to.deep.equal([{ id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA' }])
      expect((await asked).json()).to.deep.include({ input: [...TALK, TRIGGER] })
    })

    it('are refused if it is not the last item', async () => {
      const before = fixture.open.requests.length
      const error = await refusal(client.responses.create({ model: 'open/gpt', input: [TRIGGER, ...TALK] }))
      expect(error).to.be.instanceOf(OpenAI.BadRequestError)
      expect(error).to.include({ code: 'invalid_value', param: 'input[0]' })
      expect(fixture.open.requests.length).to.equal(before)
    })

    it('break off if the model writes no summary, which is no end of a stream', async () => {
      fixture.open.reply(sse(openaiReply({ reasoning: 'Hm.', text: '' }).stream))
      const stream = await client.responses.create({ model: 'open/gpt', input: [...TALK, TRIGGER], stream: true })
      const types: string[] = []
      await refusal(
        (async () => {
          for await (const { type } of stream) types.push(type)
        })(),
      )
      expect(types).to.not.include('response.completed')
    })
  })

  it('are compacted only by models that the key may call', async () => {
    const { gateway } = fixture
    const poor = gateway.openai(await gateway.key({ models: ['claude/*'] })).withOptions({ maxRetries: 0 })
    expect(await refusal(poor.responses.compact({ model: 'open/gpt', input: TALK }))).to.include({ status: 404 })
  })
})
