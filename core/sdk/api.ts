/** The public plugin API: all of the gateway that plugins can import, as `unified-model-gateway/plugin`. Its guide is docs/plugins.md. */
export { type Static, Type } from 'typebox'
export type { ErrorName } from '../error-table.ts'
export { type ErrorDetails, GatewayError } from '../errors.ts'
export type { Budget } from '../text/budgets.ts'
export { matchesGlob } from '../text/glob.ts'
export { formatUsd } from '../text/money.ts'
export * from './call.ts'
export * from './call-function.ts'
export * from './chat.ts'
export * as chunk from './chunk.ts'
export * from './conversation.ts'
export * from './estimates.ts'
export type { FormatBy, FormatPlan, JsonFormat } from './formatted-answers.ts'
export * from './history.ts'
export * from './host.ts'
export * from './invalid-config.ts'
export {
  countOf,
  expectArguments,
  expectCallId,
  expectName,
  expectObject,
  expectObjects,
  expectText,
  type InlineData,
  isCount,
  isRecord,
  parseRecord,
  readDataUrl,
  textOf,
} from './json.ts'
export * from './limits.ts'
export * from './messages-usage.ts'
export * from './openai-translator.ts'
export * from './parameters.ts'
export * from './plugin.ts'
export { errorCode, readRefusal, refusalOf, UpstreamError, type UpstreamRefusal } from './refusals.ts'
export * from './request-options.ts'
export * from './secrets.ts'
export * from './template.ts'
export * from './translated.ts'
export * from './upload.ts'
export * from './upstream-api.ts'
