import type { Call } from 'unified-model-gateway/plugin'
import type { VertexModel } from './address.ts'

/** The version of the Messages API on Vertex AI, in the body instead of Anthropic's header. */
export const CLAUDE_VERSION = 'vertex-2023-10-16'

/** The header of the versions after which Vertex AI names its own as Anthropic does, and the first of them (@anthropic-ai/vertex-sdk 1.1.3). */
const [VERSION_HEADER, FIRST] = ['anthropic-version', '2026-10-21']

/** The version in which a client's call is sent. Versions are dates: later ones are greater as text. */
function versionOf({ headers }: Call): string {
  const asked = headers[VERSION_HEADER] ?? ''
  return asked >= FIRST ? asked : CLAUDE_VERSION
}

/** The headers of a client's call, without the version, which is in the body. */
export function messagesHeaders({ headers }: Call): Readonly<Record<string, string>> {
  const { [VERSION_HEADER]: _, ...others } = headers
  return others
}

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
  body: call.splice({ anthropic_version: versionOf(call), model: undefined }),
})

/** `POST /v1/messages/count_tokens`: the path has a model of this name, and the body has the model. */
export const countRequest = (call: Call, { name }: VertexModel): MessagesRequest => ({
  name: 'count-tokens',
  method: 'rawPredict',
  body: call.splice({ anthropic_version: versionOf(call), model: name }),
})
