import type { Call } from 'unified-model-gateway/plugin'
import type { VertexModel } from './address.ts'

/** The version of the Messages API on Vertex AI, in the body instead of Anthropic's header. */
export const CLAUDE_VERSION = 'vertex-2023-10-16'

/** A client's request of the Messages API for Vertex AI (@anthropic-ai/vertex-sdk, `buildRequest`). */
export interface MessagesRequest {
  /** The model in the path. */
  readonly name: string
  readonly method: string
  readonly body: Buffer
}

/** `POST /v1/messages` */
export const messagesRequest = (call: Call, { name }: VertexModel): MessagesRequest => ({
  name,
  method: call.stream ? 'streamRawPredict' : 'rawPredict',
  body: call.splice({ anthropic_version: CLAUDE_VERSION, model: undefined }),
})

/** `POST /v1/messages/count_tokens`: the path has a model of this name, and the body has the model. */
export const countRequest = (call: Call, { name }: VertexModel): MessagesRequest => ({
  name: 'count-tokens',
  method: 'rawPredict',
  body: call.splice({ anthropic_version: CLAUDE_VERSION, model: name }),
})
