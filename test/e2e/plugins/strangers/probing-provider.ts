import { writeFileSync } from 'node:fs'
import { defineProvider, Type } from 'unified-model-gateway/plugin'
import { reachable } from './prober.ts'

/** Answers each call with nothing to say, and writes down which names of core it can reach. */
export default defineProvider({
  apiVersion: 1,
  name: 'probing-provider',
  schema: Type.Object({ file: Type.String() }),
  create: ({ file }) => ({
    parameters: 'verbatim',
    request(call, attempt) {
      const constructors = [call, attempt].map((object) => object.constructor === Object)
      writeFileSync(file, JSON.stringify({ names: { call: reachable(call), attempt: reachable(attempt) }, constructors }))
      const message = { role: 'assistant', content: 'Hello!' }
      const body = {
        id: '1',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      }
      return { status: 200, headers: { 'content-type': 'application/json' }, body: [JSON.stringify(body)] }
    },
  }),
})
