type Schema = Readonly<Record<string, unknown>>

/** The arguments of a tool, as GPT models take them: they answer 400 to an object without `properties`, which agents send for tools without arguments. */
export function toParameters(schema: Schema): Schema {
  const { type, properties } = schema
  const isObject = type === 'object' || (type === undefined && Object.keys(schema).length === 0)
  return isObject && properties == null ? { ...schema, type: 'object', properties: {} } : schema
}
