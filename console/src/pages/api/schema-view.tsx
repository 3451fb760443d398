import { Code, Text } from '@mantine/core'
import type { Schema } from '../../api/openapi.ts'
import styles from './schema-view.module.css'

/** The maximum depth of nested fields. */
const DEEPEST = 4

/** The fields of a schema, with their types and descriptions. */
export function SchemaView({ schema, depth = 0 }: { readonly schema: Schema; readonly depth?: number }) {
  const object = objectOf(schema)
  if (object === undefined)
    return (
      <Text size="sm" c="dimmed">
        {typeOf(schema)}
      </Text>
    )
  return (
    <ul className={styles.fields}>
      {Object.entries(object.properties ?? {}).map(([name, field]) => (
        <li key={name} className={styles.field}>
          <div className={styles.head}>
            <Code>{name}</Code>
            <Text size="xs" c="dimmed" span>
              {typeOf(field)}
              {object.required?.includes(name) ? '' : ', optional'}
            </Text>
          </div>
          {field.description !== undefined && (
            <Text size="xs" c="dimmed">
              {field.description}
            </Text>
          )}
          {depth < DEEPEST && objectOf(field) !== undefined && <SchemaView schema={field} depth={depth + 1} />}
        </li>
      ))}
    </ul>
  )
}

/** The object in a schema: itself, the items of a list, or a member of a union. */
function objectOf(schema: Schema): Schema | undefined {
  if (schema.properties !== undefined) return schema
  if (schema.items !== undefined) return objectOf(schema.items)
  return schema.anyOf?.map(objectOf).find((inner) => inner !== undefined)
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`
  const type = [schema.type ?? 'anything'].flat().join(' | ')
  return schema.format === undefined ? type : `${type} (${schema.format})`
}
