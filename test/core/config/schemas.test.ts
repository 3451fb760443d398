import { expect } from 'chai'
import type { TSchema } from 'typebox'
import { messageFor } from '../../../core/config/checks/messages.ts'
import { routesSchema } from '../../../core/config/schema/routes-yaml.ts'
import { checkSchema, validate } from '../../../core/config/schema/validate.ts'
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

describe('the error of a missing field has an example:', () => {
  for (const kind of ['chain', 'provider'] as const) {
    it(`of the ${kind} plugins`, async () => {
      const schemas = await Promise.all(
        (await builtinNames(kind)).map(async (name) => (await loadPlugin(name, kind, '.')).schema),
      )
      const messages = schemas.flatMap(messagesWithoutFields)
      expect(messages).not.to.have.length(0)
      expect(messages.filter((message) => !message.includes(', for example '))).to.deep.equal([])
    })
  }

  it('of routes.yaml, where a word can be one', () => {
    const messages = messagesWithoutFields(routesSchema).filter((message) => !message.includes(', for example '))
    expect(messages).to.deep.equal([])
  })
})

/** The messages of all maps of a schema, each without its required fields. */
function messagesWithoutFields(schema: TSchema): readonly string[] {
  const parts: unknown[] = [schema]
  // The list grows while it is iterated.
  for (const part of parts) if (typeof part === 'object' && part !== null) parts.push(...Object.values(part))
  const maps = parts.filter((part): part is TSchema => Array.isArray((part as { required?: unknown } | null)?.required))
  return maps.flatMap((map) =>
    validate(map, {})
      .errors.filter(({ keyword, instancePath }) => keyword === 'required' && instancePath === '')
      .map((error) => messageFor(error, { path: [], written: undefined, isReference: false })),
  )
}
