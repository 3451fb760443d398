// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type Script, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { message, text, thinking, tool } from '../../plugins/providers/anthropic/messages-api.ts'
import { event as frame } from '../../plugins/providers/bedrock/support.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { LOOP_CLIENTS } from './clients.ts'

/** A block of Claude's answer: thinking by its signature, a text, or the tool. */
type Said = { readonly signature: string } | { readonly text: string } | 'tool'

/** Claude writes text between its thinking, and signs each block for its place. */
const ANSWERS: Readonly<Record<string, readonly Said[]>> = {
  'text between thinking': [{ signature: 'dDE=' }, { text: 'I look. ' }, { signature: 'dDI=' }, 'tool'],
  'text before thinking': [{ text: 'I look.' }, { signature: 'dDE=' }, 'tool'],
  'texts around thinking': [{ text: 'I ' }, { signature: 'dDE=' }, { text: 'look.' }, { signature: 'dDI=' }, 'tool'],
  'thinking before all': [{ signature: 'dDE=' }, { signature: 'dDI=' }, { text: 'I look.' }, 'tool'],
}

interface Part {
  readonly type?: string
  readonly text?: string
  readonly signature?: string
  readonly toolUse?: object
  readonly reasoningContent?: { readonly reasoningText: { readonly signature: string } }
}

const order = (part: Part): Said => {
  const signature = part.signature ?? part.reasoningContent?.reasoningText.signature
  if (signature !== undefined) return { signature }
  return part.toolUse !== undefined || part.type === 'tool_use' ? 'tool' : { text: part.text! }
}

/** The parts of the assistant's last message that an upstream received. */
const heardBy = (body: unknown): Said[] =>
  (body as { messages: { role: string; content: Part[] }[] }).messages
    .findLast(({ role }) => role === 'assistant')!
    .content.map(order)

/** A model that thinks as much as it wants to, also after texts. */
const CLAUDE = 'claude-opus-4-8'

function anthropic(said: readonly Said[], stream: boolean): Script {
  const blocks = said.map((one) => {
    if (one === 'tool') return tool('toolu_1', 'look', '{}')
    return 'text' in one ? text(one.text) : thinking(one.signature, 'Hm.')
  })
  const reply = message(blocks, { stop_reason: 'tool_use' })
  const byOpus = (text: string): string => text.replaceAll('claude-haiku-4-5-20251001', CLAUDE)
  return stream ? sse(reply.stream.map(byOpus)) : json(JSON.parse(byOpus(JSON.stringify(reply.whole))))
}

function bedrock(said: readonly Said[], stream: boolean): Script {
  const toolUse = { toolUseId: 'tooluse_1', name: 'look' }
  const usage = { inputTokens: 12, outputTokens: 7, totalTokens: 19 }
  const whole = said.map((one) => {
    if (one === 'tool') return { toolUse: { ...toolUse, input: {} } }
    return 'text' in one ? one : { reasoningContent: { reasoningText: { text: 'Hm.', signature: one.signature } } }
  })
  if (!stream) return json({ output: { message: { role: 'assistant', content: whole } }, stopReason: 'tool_use', usage })
  const blocks = said.flatMap((one, contentBlockIndex) => {
    const delta = (each: object) => frame({ contentBlockDelta: { contentBlockIndex, delta: each } })
    const stop = frame({ contentBlockStop: { contentBlockIndex } })
    if (one === 'tool')
      return [frame({ contentBlockStart: { contentBlockIndex, start: { toolUse } } }), delta({ toolUse: { input: '{}' } }), stop]
    if ('text' in one) return [delta(one), stop]
    return [delta({ reasoningContent: { text: 'Hm.' } }), delta({ reasoningContent: { signature: one.signature } }), stop]
  })
  const frames = [
    frame({ messageStart: { role: 'assistant' } }),
    ...blocks,
    frame({ messageStop: { stopReason: 'tool_use' } }),
    frame({ metadata: { usage, metrics: { latencyMs: 1 } } }),
  ]
  return sse(frames, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
}

const UPSTREAMS = {
  anthropic: { reply: anthropic, model: CLAUDE },
  bedrock: { reply: bedrock, model: `us.anthropic.${CLAUDE}` },
} as const

describe('Claude gets its thinking back between the texts where it stood', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const config = { baseUrl: upstream.origin, apiKey: '${env:KEY}' }
    gateway = await startTestGateway({
      env: { KEY: 'key-of-upstream' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          anthropic: { provider: 'anthropic', breaker: false, config },
          bedrock: {
            provider: 'bedrock',
            breaker: false,
            config: { ...config, region: 'us-east-1', facts: { '*': { messages: 'none' } } },
          },
        },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  for (const client of LOOP_CLIENTS) {
    for (const [name, { reply, model }] of Object.entries(UPSTREAMS)) {
      for (const [title, said] of Object.entries(ANSWERS)) {
        for (const stream of [false, true]) {
          it(`${client.name} on ${name}: ${title}, ${stream ? 'streamed' : 'whole'}`, async () => {
            const ask = async (body: object) => {
              const request = upstream.reply(reply(said, stream))
              const answer = await gateway.fetch(client.path, { json: { model: `${name}/${model}`, ...body, stream } })
              return { answer: await answer.text(), status: answer.status, heard: (await request).json() }
            }
            const first = client.begin('Where?')
            const { answer, status } = await ask(first)
            expect(status, answer).to.equal(200)
            const parts = client.read(answer, stream)
            const { heard } = await ask(client.next(first, parts, [{ id: client.calls(parts)[0]!, output: 'Here.' }]))
            expect(heardBy(heard)).to.deep.equal(said)
          })
        }
      }
    }
  }
})
