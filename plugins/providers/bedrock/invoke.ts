import {
  type Attempt,
  type Call,
  type Host,
  isCount,
  isRecord,
  parseRecord,
  type UpstreamDecoder,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import { BETA_HEADER, fitBetas } from '../anthropic/betas.ts'
import { cloudBody } from '../anthropic/clouds.ts'
import { cloudVersion, withoutVersion } from '../anthropic/versions.ts'
import { FrameDecoder } from './frames.ts'
import type { ModelFacts } from './models.ts'
import { toUpstreamError } from './refusal.ts'

/** The first version of the Messages API on Bedrock ("Anthropic Claude Messages API", Amazon Bedrock user guide). */
const FIRST_VERSION = 'bedrock-2023-05-31'

/** Streams the arguments of tools as they are written. */
const EAGER = 'fine-grained-tool-streaming-2025-05-14'

/**
 * The values of `anthropic-beta` that Bedrock takes; it answers 400 "invalid beta flag" to others
 * (github.com/BerriAI/litellm, anthropic_beta_headers_config.json, November 2026; anthropics/claude-code, issue 56595).
 */
const BETAS: readonly string[] = [
  'compact-2026-01-12',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dangerous-tool-use-2026-09-03',
  'effort-2025-11-24',
  EAGER,
  'mid-conversation-output-config-2026-07-01',
  'mid-conversation-tool-changes-2026-07-01',
  'thinking-binding-controls-2026-08-01',
  'thinking-display-updates-2026-08-18',
  'tool-search-tool-2025-10-19',
]

/** Its names of values that Anthropic calls otherwise. */
const RENAMED: Readonly<Record<string, string>> = { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' }

/** What a namespace has said of all its calls of Claude. */
export interface ClaudeOptions {
  readonly betas?: readonly string[] | undefined
  readonly guardrail?: { readonly id: string; readonly version: string } | undefined
}

/** A client's request of the Messages API for Bedrock. */
export interface InvokeRequest {
  readonly operation: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** What is left out: betas, and members that Bedrock refuses. */
  readonly dropped: readonly string[]
}

/** Makes the request of a client's call. */
export type ToInvoke = (
  call: Call,
  facts: ModelFacts,
  options: ClaudeOptions,
  host: Pick<Host, 'compute'>,
) => Promise<InvokeRequest>

/** A client's own bytes for InvokeModel: the model and the stream are in the path, version and betas in the body. */
export const messagesRequest: ToInvoke = async (call, facts, { betas, guardrail }, host) => {
  const { headers, body, dropped } = await invoked(call, facts, betas, host)
  // "InvokeModel", Amazon Bedrock API reference: a guardrail is named by headers.
  const guarded = guardrail && {
    'x-amzn-bedrock-guardrailidentifier': guardrail.id,
    'x-amzn-bedrock-guardrailversion': guardrail.version,
  }
  const operation = call.stream ? 'invoke-with-response-stream' : 'invoke'
  return { operation, headers: { ...headers, ...guarded }, body, dropped }
}

/** The same of CountTokens, which takes the body of a call of the model: that has a `max_tokens` above the budget of its thinking. */
export const countRequest: ToInvoke = async (call, facts, { betas }, host) => {
  const thinking = call.member('thinking')
  const budget = isRecord(thinking) && Number.isSafeInteger(thinking.budget_tokens) ? (thinking.budget_tokens as number) : 0
  const { headers, body, dropped } = await invoked(call, facts, betas, host, { max_tokens: budget + 1 })
  const counted = { input: { invokeModel: { body: body.toString('base64') } } }
  return { operation: 'count-tokens', headers, body: Buffer.from(JSON.stringify(counted)), dropped }
}

/** CountTokens knows models by their own ids, not by inference profiles ("CountTokens", Amazon Bedrock API reference). */
export const countedModel = (attempt: Attempt): Attempt => ({
  ...attempt,
  model: attempt.model.replace(/^.*?(?=anthropic\.)/s, ''),
})

/** Reads the reply of CountTokens. Throws an Error if it has no count. */
export function toCount(body: unknown): object {
  if (!isRecord(body) || !isCount(body.inputTokens)) throw new Error('The reply has no count of tokens.')
  return { input_tokens: body.inputTokens }
}

async function invoked(
  call: Call,
  { messages }: ModelFacts,
  betas: ClaudeOptions['betas'],
  host: Pick<Host, 'compute'>,
  more: object = {},
) {
  const { headers, dropped: lostBetas } = fitBetas(withoutVersion(call), betas ?? BETAS, RENAMED)
  const { [BETA_HEADER]: kept, ...others } = headers
  const members = {
    anthropic_version: messages === 'versions' ? cloudVersion(call, FIRST_VERSION) : FIRST_VERSION,
    anthropic_beta: kept?.split(','),
    model: undefined,
    stream: undefined,
    ...more,
  }
  const { body, dropped } = await cloudBody(call, host, { members, lostBetas, eagerBeta: EAGER })
  return { headers: others, body: Buffer.from(body), dropped: [...lostBetas, ...dropped] }
}

const TYPE = /^\{\s*"type"\s*:\s*"(\w+)"/

/** Cuts the reply of InvokeModelWithResponseStream into the events of the Messages API, one in each frame. */
export class InvokedEvents implements UpstreamDecoder {
  readonly #frames = new FrameDecoder()

  end(): Iterable<UpstreamEvent> {
    return this.#frames.end()
  }

  *push(bytes: Buffer): Generator<UpstreamEvent> {
    for (const frame of this.#frames.push(bytes)) {
      // An exception or an error.
      if (frame.headers?.[':message-type'] !== 'event') throw toUpstreamError(frame)
      if (frame.type === 'chunk') yield eventIn(frame.data)
    }
  }
}

function eventIn(chunk: string): UpstreamEvent {
  const bytes = parseRecord(chunk)?.bytes
  if (typeof bytes !== 'string') throw new Error('A chunk has no bytes.')
  const data = Buffer.from(bytes, 'base64').toString('utf8')
  return { type: TYPE.exec(data)?.[1] ?? '', data }
}
