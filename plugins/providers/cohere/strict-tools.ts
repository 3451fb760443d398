import { type ChatTool, isRecord } from 'unified-model-gateway/plugin'

/** The keywords of schemas that Cohere enforces ("Parameter types in structured outputs", docs.cohere.com). Of others it answers 400. */
const ENFORCED: ReadonlySet<string> = new Set([
  ...['type', 'title', 'description', 'properties', 'required', 'items', 'enum', 'const', 'additionalProperties'],
  ...['$ref', '$defs', 'format', 'pattern'],
])

/** The most parameters of all tools together ("Parameter types for tool use", docs.cohere.com; read 2026-11-26). */
const MOST_FIELDS = 200

/** Whether Cohere can hold the calls of all these tools to their schemas: it takes `strict_tools` for all of them or none. */
export function canBeStrict(tools: readonly ChatTool[]): boolean {
  const schemas = tools.map((tool) => (tool.type === 'function' ? tool.function.parameters : undefined))
  let fields = 0
  const isEnforced = (schema: unknown): boolean => {
    if (typeof schema === 'boolean') return !schema
    if (!isRecord(schema) || !Object.keys(schema).every((keyword) => ENFORCED.has(keyword))) return false
    const { properties = {}, $defs = {}, items, additionalProperties } = schema
    if (!isRecord(properties) || !isRecord($defs)) return false
    fields += Object.keys(properties).length
    const inner = [items, additionalProperties].filter((each) => each !== undefined)
    return [...Object.values(properties), ...Object.values($defs), ...inner].every(isEnforced)
  }
  return schemas.every((schema) => hasRequired(schema) && isEnforced(schema)) && fields <= MOST_FIELDS
}

/** "You must specify at least one required parameter" (the same page). */
const hasRequired = (schema: ChatToolSchema): boolean => Array.isArray(schema?.required) && schema.required.length > 0

type ChatToolSchema = Extract<ChatTool, { type: 'function' }>['function']['parameters']
