import { API_VERSION, type Call, defineProvider, type EndpointHandler, Type } from 'unified-model-gateway/plugin'
import { replyToCompletion } from './completions.ts'
import { replyToEmbeddings } from './embeddings.ts'
import { replyToImages } from './images.ts'
import { replyToModeration } from './moderations.ts'
import { type PacedReply, play } from './pace.ts'
import { replyToChat } from './reply.ts'
import { replyToRerank } from './rerank.ts'
import { replyToSpeech } from './speech.ts'
import { replyToTranscription } from './transcripts.ts'

/** Bytes. Unlike an upstream, the sandbox works on the gateway's event loop. */
const MAX_BODY = 1 << 20

/** The list of `GET /v1/models`; any other name is answered as well. */
const MODELS = ['echo', 'hello', 'reasoner'].map((id) => ({ id, created: 1_700_000_000, owned_by: 'sandbox' }))

const endpoint = (replyTo: (call: Call) => PacedReply): EndpointHandler => ({
  parameters: 'verbatim',
  request: (call, { signal }) => play(replyTo(call), signal),
})

/** Answers without a network: the same request always gets the same reply, and a line in it can request faults. */
export default defineProvider({
  apiVersion: API_VERSION,
  name: 'sandbox',
  schema: Type.Object({}, { additionalProperties: false }),

  create: () => ({
    parameters: 'verbatim',
    maxBody: MAX_BODY,

    request: (call, { signal }) => play(replyToChat(call), signal),

    endpoints: {
      embeddings: endpoint(replyToEmbeddings),
      completions: endpoint(replyToCompletion),
      moderations: endpoint(replyToModeration),
      'images.generations': endpoint(replyToImages),
      'audio.speech': endpoint(replyToSpeech),
      'audio.transcriptions': endpoint(replyToTranscription),
      rerank: endpoint(replyToRerank),
    },

    models: async () => MODELS,
  }),
})
