import { useQuery } from '@tanstack/react-query'
import { get } from './http.ts'

/** A JSON Schema, as far as the page shows it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: boolean | Schema
}

/** A body by its content type. */
export interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

/** One operation of the document. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  /** Who may call it. */
  readonly 'x-access': 'public' | 'member' | 'admin'
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: Content
  /** Empty: anyone may call it. */
  readonly security: readonly object[]
  readonly responses: Readonly<Record<string, Content & { readonly description?: string }>>
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path' | 'tag'> & { readonly tags?: readonly string[] }>>>
  >
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The operations of the management API, as its OpenAPI document describes them. */
export function useOperations() {
  return useQuery({
    queryKey: ['/openapi.json'],
    queryFn: async () => operationsOf((await get('/openapi.json', {})) as unknown as Document),
    staleTime: Infinity,
  })
}

function operationsOf({ paths, components }: Document): readonly Operation[] {
  return Object.entries(resolve(paths, components.schemas)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { tags, ...operation }]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
      tag: tags?.[0] ?? 'other',
    })),
  )
}

/** Replaces the references to components by their schemas. None contains itself. */
function resolve<Value>(value: Value, schemas: Document['components']['schemas']): Value {
  const text = JSON.stringify(value, (_, inner) => {
    const name: unknown = inner?.$ref
    return typeof name === 'string' ? schemas[name.slice(name.lastIndexOf('/') + 1)] : inner
  })
  return JSON.parse(text) as Value
}
