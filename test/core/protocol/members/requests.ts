/** The request bodies that vendors publish, by the endpoint that takes them. Read by `published.ts`, never run. */
import type { MessageCountTokensParams, MessageCreateParams } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type {
  MessageCountTokensParams as StableCountTokensParams,
  MessageCreateParams as StableCreateParams,
} from '@anthropic-ai/sdk/resources/messages'
import type { SpeechCreateParams } from 'openai/resources/audio/speech'
import type { TranscriptionCreateParams } from 'openai/resources/audio/transcriptions'
import type { TranslationCreateParams } from 'openai/resources/audio/translations'
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { CompletionCreateParams } from 'openai/resources/completions'
import type { EmbeddingCreateParams } from 'openai/resources/embeddings'
import type { ImageEditParams, ImageGenerateParams } from 'openai/resources/images'
import type { ModerationCreateParams } from 'openai/resources/moderations'
import type { InputTokenCountParams } from 'openai/resources/responses/input-tokens'
import type { ResponseCompactParams, ResponseCreateParams } from 'openai/resources/responses/responses'

export interface Requests {
  'chat.completions': ChatCompletionCreateParams
  responses: ResponseCreateParams
  'responses.compact': ResponseCompactParams
  'responses.input_tokens': InputTokenCountParams
  messages: MessageCreateParams | StableCreateParams
  'messages.count_tokens': MessageCountTokensParams | StableCountTokensParams
  completions: CompletionCreateParams
  embeddings: EmbeddingCreateParams
  moderations: ModerationCreateParams
  'images.generations': ImageGenerateParams
  'images.edits': ImageEditParams
  'audio.speech': SpeechCreateParams
  'audio.transcriptions': TranscriptionCreateParams
  'audio.translations': TranslationCreateParams
}
