import { Box, Button, NavLink, ScrollArea, Skeleton, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { address } from '../../api/http.ts'
import type { Operation } from '../../api/openapi.ts'
import { useOperations } from '../../api/openapi.ts'
import { useSignedIn } from '../../api/session.ts'
import { Failure } from '../../ui/failure.tsx'
import { Page } from '../../ui/page.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import styles from './api-page.module.css'
import { MethodBadge } from './method-badge.tsx'
import { OperationView } from './operation-view.tsx'

/** Tags whose words do not make headings. */
const TAGS: Readonly<Record<string, string>> = { oidc: 'OpenID Connect', openapi: 'OpenAPI', 'sign-in': 'Signing in' }

const nameOf = ({ method, path }: Operation): string => `${method} ${path}`

/** The documentation of the management API. */
export function ApiPage() {
  const { data, error, refetch } = useOperations()
  const isAdmin = useSignedIn().user.role === 'admin'
  const operations = data?.filter(({ 'x-access': access }) => isAdmin || access !== 'admin')
  const [{ route }, setFilters] = useFilters({ route: '' })
  const chosen = operations?.find((operation) => nameOf(operation) === route) ?? operations?.[0]
  return (
    <Page
      title="API"
      about={
        isAdmin
          ? 'Everything this console does, for programs. They authenticate with an admin key, which cannot call models.'
          : 'What this console does for members. Programs need an admin key: ask an admin of this gateway for one.'
      }
      actions={
        <Button component="a" href={address('/openapi.json')} download variant="default" leftSection={<IconDownload size={16} />}>
          OpenAPI
        </Button>
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {operations === undefined && error === null && <Skeleton h={480} />}
      {operations !== undefined && chosen !== undefined && (
        <Box className={styles.columns}>
          <OperationList operations={operations} chosen={chosen} onChoose={(next) => setFilters({ route: next })} />
          <OperationView operation={chosen} origin={window.location.origin} />
        </Box>
      )}
    </Page>
  )
}

/** The operations, grouped by tag. */
interface OperationListProps {
  readonly operations: readonly Operation[]
  readonly chosen: Operation
  readonly onChoose: (name: string) => void
}

function OperationList({ operations, chosen, onChoose }: OperationListProps) {
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  return (
    <ScrollArea.Autosize className={styles.list} component="nav" aria-label="Operations" viewportProps={{ tabIndex: -1 }}>
      {tags.map((tag) => (
        <Box key={tag} mb="sm">
          <Text size="xs" fw={500} c="dimmed" className={styles.tag} px={8} mb={2} component="h2">
            {TAGS[tag] ?? tag}
          </Text>
          {operations
            .filter((operation) => operation.tag === tag)
            .map((operation) => (
              <NavLink
                key={nameOf(operation)}
                component="button"
                className={styles.operation}
                active={operation === chosen}
                aria-current={operation === chosen}
                leftSection={<MethodBadge method={operation.method} />}
                label={operation.summary}
                onClick={() => onChoose(nameOf(operation))}
              />
            ))}
        </Box>
      ))}
    </ScrollArea.Autosize>
  )
}
