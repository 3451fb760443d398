import { readFileSync } from 'node:fs'
import {
  type Call,
  type Provider,
  Secret,
  type TranslatedChunk,
  type UpstreamEvent,
  type UpstreamRequest,
  type Usage,
} from 'unified-model-gateway/plugin'
import { testHost } from '../../../../core/testing/kit.ts'
import plugin from '../../../../plugins/providers/anthropic/index.ts'
import type { Block, MessagesRequest, ToolResultBlock, ToolUseBlock } from '../../../../plugins/providers/anthropic/wire.ts'
import { fakeAttempt, fakeCall, fakeCallAndAttempt } from '../../../support/fake-call.ts'

/** The provider as routes.yaml would configure it. */
export async function anthropic(config: Readonly<Record<string, unknown>> = {}): Promise<Provider> {
  return plugin.create({ apiKey: new Secret('sk-ant-very-secret'), ...config }, testHost())
}

/** The schemas of the client's tools. */
export const schemasOf = (tools: MessagesRequest['tools'] = []): readonly object[] =>
  tools.flatMap((tool) => ('input_schema' in tool ? tool.input_schema : []))

/** The upstream request for a call. */
export async function send(call: Call, config: Readonly<Record<string, unknown>> = {}): Promise<UpstreamRequest> {
  return (await (await anthropic(config)).request(call, fakeAttempt(call))) as UpstreamRequest
}

/** The upstream request for a body. */
export function upstream(body: Readonly<Record<string, unknown>>, config: Readonly<Record<string, unknown>> = {}) {
  return send(fakeCall({ model: 'claude/claude-haiku-4-5', ...body }), config)
}

/** The translated body. */
export async function translate(body: Readonly<Record<string, unknown>>): Promise<MessagesRequest> {
  return JSON.parse(String((await upstream(body)).body))
}

/** The blocks of all messages of a translated body. */
export function blocksOf(request: MessagesRequest): Block[] {
  return request.messages.flatMap(({ content }) => content)
}

export function isToolUse(block: Block): block is ToolUseBlock {
  return block.type === 'tool_use'
}

export function isToolResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool_result'
}

/** An event of the Messages API. */
export function event(data: Readonly<Record<string, unknown>>): UpstreamEvent {
  return { type: String(data.type), data: JSON.stringify(data) }
}

/** The events of a fixture, `event:` and `data:` lines between blank ones. */
export function fixture(name: string): UpstreamEvent[] {
  const text = readFileSync(new URL(`fixtures/${name}.sse`, import.meta.url), 'utf8')
  const frames = text.split('\n\n').filter((frame) => frame.includes('data:'))
  return frames.map((frame) => ({ type: /^event: (.*)$/m.exec(frame)?.[1] ?? '', data: /^data: (.*)$/m.exec(frame)?.[1] ?? '' }))
}

/** The chunks of a stream's events, to its end. */
export async function play(events: readonly UpstreamEvent[]): Promise<TranslatedChunk[]> {
  const translator = (await anthropic()).translator!(...fakeCallAndAttempt())!
  const chunks = events.flatMap((one) => [...translator.event(one)])
  return [...chunks, ...translator.end!()]
}

/** A client's reply after the end of a stream. */
export interface Heard {
  id?: string
  content: string
  reasoning: string
  calls: { index: number; id?: string; name?: string; arguments: string; extra_content?: unknown }[]
  finishes: unknown[]
  usage?: Partial<Usage>
}

/** Joins the chunks of a stream as a client does. */
export function hear(chunks: readonly TranslatedChunk[]): Heard {
  const heard: Heard = { content: '', reasoning: '', calls: [], finishes: [] }
  for (const { id, choices, usage } of chunks) {
    if (id) heard.id = id
    if (usage) heard.usage = usage
    for (const { delta, finish_reason } of choices) {
      heard.content += delta?.content ?? ''
      heard.reasoning += delta?.reasoning_content ?? ''
      if (finish_reason) heard.finishes.push(finish_reason)
      for (const { index, id, function: called, ...rest } of delta?.tool_calls ?? []) {
        const call = heard.calls.find((one) => one.index === index)
        if (call) call.arguments += called?.arguments ?? ''
        else
          heard.calls.push({
            index,
            id,
            name: called?.name,
            arguments: called?.arguments ?? '',
            extra_content: rest.extra_content,
          })
      }
    }
  }
  return heard
}

/** Translates a fixture and joins its chunks. */
export async function hearFixture(name: string): Promise<Heard> {
  return hear(await play(fixture(name)))
}
