import { Alert, Box, Code, Group, List, Paper, Stack, Text } from '@mantine/core'
import type { Config } from '../../api/operations.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { exactly } from '../../ui/numbers.ts'
import { StatusLabel } from '../../ui/status-label.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'

/** The most changes or errors that are shown: a reload may have thousands. */
const SHOWN = 50

/** The file, when it was loaded, and the changes or errors of the last reload. */
export function ReloadCard({ config: { file, sha256, loaded_at, last_reload } }: { readonly config: Config }) {
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" gap="sm">
        <Group gap={4}>
          <Code>{file}</Code>
          <Text size="sm" c="dimmed">
            in use since <TimeAgo at={loaded_at} />
          </Text>
        </Group>
        <Group gap={4}>
          <Text size="xs" c="dimmed">
            SHA-256
          </Text>
          <Code title={sha256}>{sha256.slice(0, 12)}…</Code>
          <CopyButton text={sha256} what="SHA-256" />
        </Group>
      </Group>
      {last_reload !== null && <Reload reload={last_reload} />}
    </Paper>
  )
}

function Reload({ reload: { at, ok, diagnostics, difference } }: { readonly reload: NonNullable<Config['last_reload']> }) {
  if (!ok)
    return (
      <Alert color="red" mt="md" title="The last change was rejected; the previous configuration stays in use">
        <TimeAgo at={at} />
        <Stack gap="sm" mt="xs">
          {diagnostics.slice(0, SHOWN).map(({ line, column, message, frame }) => (
            <div key={`${line}:${column} ${message}`}>
              <Text size="sm">
                Line {line} of the refused file: {message}
              </Text>
              {frame !== '' && (
                <Box mt={4}>
                  <CodeBlock what={`refused text around line ${line}`} text={frame} />
                </Box>
              )}
            </div>
          ))}
          {diagnostics.length > SHOWN && <Text size="sm">and {exactly(diagnostics.length - SHOWN)} more errors</Text>}
        </Stack>
      </Alert>
    )
  return (
    <>
      <Text size="sm" mt="md" component="div">
        <StatusLabel tone="good">
          Last reload <TimeAgo at={at} />
        </StatusLabel>
      </Text>
      <List size="sm" mt={6} listStyleType="none">
        {difference.slice(0, SHOWN).map((change) => (
          <List.Item key={change}>{change}</List.Item>
        ))}
        {difference.length > SHOWN && <List.Item c="dimmed">and {exactly(difference.length - SHOWN)} more changes</List.Item>}
        {difference.length === 0 && <List.Item c="dimmed">Nothing changed in effect.</List.Item>}
      </List>
    </>
  )
}
