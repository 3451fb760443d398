import { chatCompletions } from '../chat-completions.ts'
import { embeddings } from '../embeddings.ts'
import type { ModelEndpoint } from '../format.ts'
import { countTokens, messages } from '../messages/endpoint.ts'
import { compactResponses, inputTokens, responses } from '../responses/endpoint.ts'
import { passedEndpoints } from './passed-endpoints.ts'

/** All endpoints under `/v1` that a model answers. */
export const modelEndpoints: readonly ModelEndpoint[] = [
  chatCompletions,
  embeddings,
  messages,
  countTokens,
  responses,
  compactResponses,
  inputTokens,
  ...passedEndpoints,
]
