import { API_VERSION, defineProvider, Type } from 'unified-model-gateway/plugin'
import { replyToEmbeddings } from './embeddings.ts'
import { play } from './pace.ts'
import { replyToChat } from './reply.ts'

/** Bytes. Unlike an upstream, the sandbox works on the gateway's event loop. */
const MAX_BODY = 1 << 20

/** The list of `GET /v1/models`; any other name is answered as well. */
const MODELS = ['echo', 'hello', 'reasoner'].map((id) => ({ id, created: 1_700_000_000, owned_by: 'sandbox' }))

/** Answers without a network: the same request always gets the same reply, and a line in it can request faults. */
export default defineProvider({
  apiVersion: API_VERSION,
  name: 'sandbox',
  schema: Type.Object({}, { additionalProperties: false }),

  create: () => ({
    parameters: 'verbatim',
    maxBody: MAX_BODY,

    request: (call, { signal }) => play(replyToChat(call), signal),

    endpoints: { embeddings: { parameters: 'verbatim', request: (call, { signal }) => play(replyToEmbeddings(call), signal) } },

    models: async () => MODELS,
  }),
})
