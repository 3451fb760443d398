import { defineProvider, Type } from '../../api.ts'

/** An upstream of OpenAI's kind, with nothing between it and the links. */
export const passThrough = defineProvider({
  apiVersion: 1,
  name: 'pass-through',
  schema: Type.Object({ origin: Type.String() }),
  create: ({ origin }) => ({
    parameters: 'verbatim',
    request: (call, { model }) => ({
      origin,
      path: '/v1/chat/completions',
      headers: call.headers,
      body: call.splice({ model }),
    }),
    models: async () => [{ id: 'some-model' }],
  }),
})
