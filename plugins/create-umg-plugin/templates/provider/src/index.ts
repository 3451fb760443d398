import { defineProvider, secret, Type } from 'unified-model-gateway/plugin'
import { parameters } from './parameters.ts'
import { toRefusal } from './refusal.ts'
import { createTranslator } from './reply.ts'
import { toTalkRequest } from './request.ts'

const schema = Type.Object(
  {
    baseUrl: Type.String({ description: 'The address before /v1/talk.', examples: ['https://api.parrot.example'] }),
    apiKey: secret({ description: 'A key of Parrot.' }),
  },
  { additionalProperties: false },
)

/** Parrot, a service that exists only here. */
export default defineProvider({
  apiVersion: 1,
  name: '__name__',
  schema,

  create({ baseUrl, apiKey }, host) {
    if (!URL.canParse(baseUrl)) throw new Error(`baseUrl: '${baseUrl}' is not a URL; write https://api.parrot.example`)
    const { origin, pathname } = new URL(baseUrl)
    const prefix = pathname.replace(/\/$/, '')
    const authorization = apiKey.map((key) => `Bearer ${key}`)

    return {
      parameters,

      request: (call, { model }) => ({
        origin,
        path: `${prefix}/v1/talk`,
        headers: { ...call.headers, authorization },
        body: JSON.stringify(toTalkRequest(call.body, model)),
      }),

      translator: createTranslator,

      error: toRefusal,

      async models(signal) {
        const listed = await host.getJson(`${origin}${prefix}/v1/engines`, { headers: { authorization }, signal })
        return (listed as { engines: { name: string }[] }).engines.map(({ name }) => ({ id: name, owned_by: 'parrot' }))
      },
    }
  },
})
