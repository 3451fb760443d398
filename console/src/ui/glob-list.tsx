import { Code, Group, Text, Tooltip } from '@mantine/core'
import styles from './glob-list.module.css'

const SHOWN = 2

/** The glob that matches every model. */
const ALL = '*'

/** Globs in a table cell: the first ones, the others on hover. */
export function GlobList({ globs }: { readonly globs: readonly string[] }) {
  if (globs.length === 0 || globs.includes(ALL))
    return (
      <Text size="sm" c="dimmed" span>
        All
      </Text>
    )
  return (
    <Group gap={4}>
      {globs.slice(0, SHOWN).map((glob) => (
        <Code key={glob} title={glob} className={styles.glob}>
          {glob}
        </Code>
      ))}
      {globs.length > SHOWN && (
        <Tooltip label={globs.slice(SHOWN).join(', ')} multiline maw={320}>
          <Text size="xs" c="dimmed" span>
            +{globs.length - SHOWN}
          </Text>
        </Tooltip>
      )}
    </Group>
  )
}
