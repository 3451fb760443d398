import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Content, Operation, Schema } from '../../api/openapi.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { MethodBadge } from './method-badge.tsx'
import { SchemaView } from './schema-view.tsx'

/** One operation: its parameters, body and reply, and a curl command. */
export function OperationView({ operation, origin }: { readonly operation: Operation; readonly origin: string }) {
  const { method, path, summary, description, parameters, requestBody, responses } = operation
  const body = schemaOf(requestBody)
  const [status, success] = Object.entries(responses).find(([code]) => code.startsWith('2') || code.startsWith('3')) ?? []
  const reply = schemaOf(success)
  return (
    <Stack gap="lg">
      <div>
        <Title order={2} size="h4">
          {summary}
        </Title>
        <Group gap="xs" mt={6}>
          <MethodBadge method={method} />
          <Text ff="monospace" size="sm">
            {path}
          </Text>
        </Group>
        {description !== undefined && (
          <Text size="sm" c="dimmed" mt={6}>
            {description}
          </Text>
        )}
      </div>
      <CodeBlock what="curl command" text={curl(operation, origin)} />
      {parameters.length > 0 && (
        <Part title="Parameters">
          <SchemaView schema={parametersOf(operation)} />
        </Part>
      )}
      {body !== undefined && (
        <Part title="Body">
          <SchemaView schema={body} />
        </Part>
      )}
      <Part title={`Reply ${status ?? ''}`}>
        {reply === undefined ? <Text size="sm">{noSchema(success)}</Text> : <SchemaView schema={reply} />}
      </Part>
    </Stack>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      {children}
    </section>
  )
}

const schemaOf = (content: Content | undefined): Schema | undefined => content?.content?.['application/json']?.schema

const noSchema = (content: Content | undefined): string => Object.keys(content?.content ?? {})[0] ?? 'No content'

/** The parameters as the fields of an object. */
function parametersOf({ parameters }: Operation): Schema {
  return {
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  }
}

function curl({ method, path, requestBody, security }: Operation, origin: string): string {
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${origin}${path}'`]
  if (security.length > 0) lines.push(`  -H "authorization: Bearer $UMG_ADMIN_KEY"`)
  if (method !== 'GET')
    lines.push(`  -H 'content-type: application/json'`, `  -d '${JSON.stringify(example(schemaOf(requestBody)))}'`)
  return lines.join(' \\\n')
}

/** The required fields of a body, with placeholders. */
function example(schema: Schema | undefined): unknown {
  const fields = Object.entries(schema?.properties ?? {}).filter(([name]) => schema?.required?.includes(name))
  return Object.fromEntries(fields.map(([name, field]) => [name, placeholder(field)]))
}

function placeholder(schema: Schema): unknown {
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.type === 'array') return []
  if (schema.type === 'object') return {}
  return schema.type === 'integer' || schema.type === 'number' ? 0 : '…'
}
