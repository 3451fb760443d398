import { Badge } from '@mantine/core'

const COLORS: Readonly<Record<string, string>> = { GET: 'gray', POST: 'cobalt', PATCH: 'orange', DELETE: 'red' }

/** The method of an operation. */
export function MethodBadge({ method }: { readonly method: string }) {
  return (
    <Badge size="sm" variant="light" radius="sm" color={COLORS[method] ?? 'gray'} w={66}>
      {method}
    </Badge>
  )
}
