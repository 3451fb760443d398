import { routesSchema } from '../../../core/config/schema/routes-yaml.ts'
import { checkSchema } from '../../../core/config/schema/validate.ts'
import { builtinNames, loadPlugin } from '../../../core/plugins/registry.ts'
import { chatRequestSchema } from '../../../core/protocol/chat-completions.ts'

/** They are not checked when the gateway starts: it would start later. */
describe('the schemas that come with the gateway are valid JSON Schema:', () => {
  it('of routes.yaml', () => checkSchema(routesSchema))
  it('of chat completions', () => checkSchema(chatRequestSchema as never))

  for (const kind of ['chain', 'provider'] as const) {
    it(`of the ${kind} plugins`, async () => {
      for (const name of await builtinNames(kind)) checkSchema((await loadPlugin(name, kind, '.')).schema)
    })
  }
})
