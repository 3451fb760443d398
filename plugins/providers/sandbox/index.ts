import { API_VERSION, type Attempt, defineProvider, type LocalReply, Type } from 'unified-model-gateway/plugin'
import { embeddingsFor } from './embeddings.ts'
import { pace } from './pace.ts'
import { type Reply, replyTo } from './reply.ts'

/** Bytes. Unlike an upstream's, the sandbox's work is done on the gateway's event loop. */
const MAX_BODY = 1 << 20

/** What `GET /v1/models` lists; any other name is answered as well. */
const MODELS = ['echo', 'hello', 'reasoner'].map((id) => ({ id, created: 1_700_000_000, owned_by: 'sandbox' }))

/** Answers without a network: the same request always gets the same reply, and a line in it can ask for faults. */
export default defineProvider({
  apiVersion: API_VERSION,
  name: 'sandbox',
  schema: Type.Object({}, { additionalProperties: false }),

  create: () => ({
    parameters: 'verbatim',
    maxBody: MAX_BODY,

    request: (call, attempt) => play(replyTo(call), attempt),

    endpoints: { embeddings: { parameters: 'verbatim', request: (call, attempt) => play(embeddingsFor(call), attempt) } },

    models: async () => MODELS,
  }),
})

function play({ status, headers, frames, pacing }: Reply, { signal }: Attempt): LocalReply {
  return { status, headers, body: pace(frames, pacing, signal) }
}
