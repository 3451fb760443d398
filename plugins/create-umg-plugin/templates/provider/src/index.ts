import { bearer, defineProvider, parseBaseUrl, secret, Type } from 'unified-model-gateway/plugin'
import { toRefusal } from './refusal.ts'
import { createTranslator } from './reply.ts'
import { parameters, talkBody } from './request.ts'

const schema = Type.Object(
  {
    baseUrl: Type.String({ description: 'The address before /v1/talk.', examples: ['https://api.parrot.example'] }),
    apiKey: secret({ description: 'A key of Parrot.' }),
  },
  { additionalProperties: false },
)

/** Parrot, a fictional service. */
export default defineProvider({
  apiVersion: 1,
  name: '__name__',
  schema,

  create({ baseUrl, apiKey }, host) {
    const { origin, path } = parseBaseUrl(baseUrl, { endpoint: '/v1/talk', example: 'https://api.parrot.example' })
    const authorization = bearer(apiKey)

    return {
      parameters,

      request: async (call, { model }) => ({
        origin,
        path: `${path}/v1/talk`,
        headers: { ...call.headers, authorization },
        ...(await host.compute(call, talkBody, model)),
      }),

      translator: createTranslator,

      error: toRefusal,

      async models(signal) {
        const listed = await host.getJson(`${origin}${path}/v1/engines`, { headers: { authorization }, signal })
        return (listed as { engines: { name: string }[] }).engines.map(({ name }) => ({ id: name, owned_by: 'parrot' }))
      },
    }
  },
})
