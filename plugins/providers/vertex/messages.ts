import type { Call } from 'unified-model-gateway/plugin'
import { cloudVersion } from '../anthropic/versions.ts'
import type { VertexModel } from './address.ts'

/** The version of the Messages API on Vertex AI, in the body instead of Anthropic's header. */
export const CLAUDE_VERSION = 'vertex-2023-10-16'

/**
 * The values of `anthropic-beta` that Vertex AI takes; it answers 400 "Unexpected value(s)" to others
 * (github.com/BerriAI/litellm, anthropic_beta_headers_config.json, November 2026; anthropics/claude-code, issues 21625 and 34802).
 */
export const BETAS: readonly string[] = [
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dangerous-tool-use-2026-09-03',
  'interleaved-thinking-2025-05-14',
  'per-turn-control-2026-07-01',
  'thinking-display-updates-2026-08-18',
  'tool-search-tool-2025-10-19',
  'web-search-2025-03-05',
]

/** Its names of values that Anthropic calls otherwise. */
export const RENAMED_BETAS: Readonly<Record<string, string>> = { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' }

/** A client's request of the Messages API for Vertex AI (@anthropic-ai/vertex-sdk, `buildRequest`). */
export interface MessagesRequest {
  /** The model in the path. */
  readonly name: string
  readonly method: string
  readonly members: Readonly<Record<string, unknown>>
}

/** `POST /v1/messages` */
export const messagesRequest = (call: Call, { name }: VertexModel): MessagesRequest => ({
  name,
  method: call.stream ? 'streamRawPredict' : 'rawPredict',
  members: { anthropic_version: cloudVersion(call, CLAUDE_VERSION), model: undefined },
})

/** `POST /v1/messages/count_tokens`: the path has a model of this name, and the body has the model. */
export const countRequest = (call: Call, { name }: VertexModel): MessagesRequest => ({
  name: 'count-tokens',
  method: 'rawPredict',
  members: { anthropic_version: cloudVersion(call, CLAUDE_VERSION), model: name },
})
