import { defineProvider, Type } from 'unified-model-gateway/plugin'

/** A provider that maps few parameters. */
export default defineProvider({
  apiVersion: 1,
  name: 'picky',
  schema: Type.Object({}),
  create: () => ({
    parameters: {
      temperature: { support: 'mapped', to: 'temperature' },
      seed: { support: 'dropped' },
      logprobs: { support: 'refused' },
    },
    request: () => ({ status: 200, body: [] }),
  }),
})
