import { Skeleton, Stack } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { useConfig } from '../../api/operations.ts'
import { Failure } from '../../ui/failure.tsx'
import { Page } from '../../ui/page.tsx'
import { ReloadCard } from './reload-card.tsx'
import { YamlView } from './yaml-view.tsx'

/** The routes.yaml in use, read-only, and the outcome of the last reload. */
export function ConfigPage() {
  const [search] = useSearchParams()
  const { data, error, retry } = useConfig()
  const line = Number(search.get('line')) || undefined
  return (
    <Page
      title="Config"
      about="The routes.yaml in use. Edit the file on the gateway's machine; it is reloaded when you save it. Secrets are never shown."
    >
      {error !== null && data === undefined && <Failure error={error} onRetry={retry} />}
      {error === null && data === undefined && <Skeleton h={480} />}
      {data !== undefined && (
        <Stack>
          <ReloadCard config={data} />
          <YamlView key={line} text={data.text} marked={line} />
        </Stack>
      )}
    </Page>
  )
}
