/**
 * The public seam: all that a plugin, built-in or a stranger's, may know of the gateway. Imported as
 * `unified-model-gateway/plugin`. docs/plugins.md is its guide.
 */
export { type Static, Type } from 'typebox'
export { type ErrorDetails, type ErrorName, GatewayError } from '../errors.ts'
export * from './call.ts'
export * from './chat.ts'
export * as chunk from './chunk.ts'
export {
  type AskedTools,
  argumentsOf,
  type ConversationVisitor,
  type IdRule,
  type MessageVisitor,
  readToolChoice,
  ToolIds,
  walkConversation,
  walkMessages,
} from './conversation.ts'
export * from './host.ts'
export { type InlineData, isRecord, parseRecord, readDataUrl } from './json.ts'
export { type FactsByModel, modelFacts } from './model-facts.ts'
export { dropped, invalidValue, mapped, onlyOpenai, type ParameterSupport, refused, unsupportedParameter } from './parameters.ts'
export * from './plugin.ts'
export { readRefusal, refusalOf, UpstreamError, type UpstreamRefusal } from './refusals.ts'
export { bearer, Secret, secret, type UpstreamHeaders } from './secrets.ts'
export { compileTemplate, type Template } from './template.ts'
export {
  inputTexts,
  type TranslatedChoice,
  type TranslatedChunk,
  type TranslatedCompletion,
  type TranslatedEmbeddings,
  toEmbeddings,
} from './translated.ts'
export { type BaseUrl, type BaseUrlOptions, type GetPage, type Paging, parseBaseUrl, readPages } from './upstreams.ts'
