import { Anchor, Box, NativeSelect, NavLink, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import { useModels } from '../../api/models.ts'
import { useSignedIn } from '../../api/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ModelSelect } from '../../ui/model-select.tsx'
import { Page } from '../../ui/page.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { CLIENTS, type Client } from './clients.ts'
import styles from './connect-page.module.css'
import { Step } from './step.tsx'

/** In snippets, while no model is chosen or known. */
const NO_MODEL = 'namespace/model'

/** How to configure each client to use this gateway. */
export function ConnectPage() {
  const { gateway } = useSignedIn()
  const { first } = useModels()
  const [{ client: id, model }, setFilters] = useFilters({ client: CLIENTS[0]!.id, model: first })
  const client = CLIENTS.find((known) => known.id === id) ?? CLIENTS[0]!
  return (
    <Page title="Connect" about="Any OpenAI client works: set its base URL and API key, and write models as <namespace>/<model>.">
      <SimpleGrid cols={{ base: 1, md: 3 }} mb="xl">
        <Step number={1} title="Base URL">
          <code className={styles.value}>{gateway.base_url}</code>
          <CopyButton text={gateway.base_url} what="base URL" />
        </Step>
        <Step number={2} title="API key">
          <Text size="sm">
            <Anchor component={Link} to="/keys?new=1" underline="always">
              Create one
            </Anchor>{' '}
            for each client.
          </Text>
        </Step>
        <Step number={3} title="Model">
          <ModelSelect value={model} onChange={(next) => setFilters({ model: next })} />
        </Step>
      </SimpleGrid>
      <Box className={styles.clients}>
        <Clients chosen={client} onChoose={(next) => setFilters({ client: next })} />
        <Stack gap="md" className={styles.snippet}>
          {client.install !== undefined && <Snippet where="Install it first" what="install command" text={client.install} />}
          {client.setKey !== undefined && (
            <Snippet where="Set your key in the terminal, in place of sk-live-…" what="key command" text={client.setKey} />
          )}
          <Snippet
            where={client.where}
            what={`${client.name} snippet`}
            text={client.snippet({ baseUrl: gateway.base_url, model: model === '' ? NO_MODEL : model })}
          />
        </Stack>
      </Box>
    </Page>
  )
}

function Clients({ chosen, onChoose }: { readonly chosen: Client; readonly onChoose: (id: string) => void }) {
  return (
    <>
      <Paper component="nav" aria-label="Clients" visibleFrom="sm" className={styles.list}>
        {CLIENTS.map(({ id, name }) => (
          <NavLink
            key={id}
            component="button"
            label={name}
            active={id === chosen.id}
            aria-current={id === chosen.id}
            className={styles.client}
            onClick={() => onChoose(id)}
          />
        ))}
      </Paper>
      <NativeSelect
        hiddenFrom="sm"
        label="Client"
        data={CLIENTS.map(({ id, name }) => ({ value: id, label: name }))}
        value={chosen.id}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      />
    </>
  )
}

function Snippet({ where, what, text }: { readonly where: string; readonly what: string; readonly text: string }) {
  return (
    <div>
      <Text size="sm" c="dimmed" mb={6}>
        {where}
      </Text>
      <CodeBlock what={what} text={text} />
    </div>
  )
}
