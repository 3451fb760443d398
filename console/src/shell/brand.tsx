import { Anchor, Group, Text } from '@mantine/core'
import { Link } from 'react-router'

/** The mark and the name; leads to the first page. */
export function Brand() {
  return (
    <Anchor component={Link} to="/" underline="never" c="var(--mantine-color-text)" aria-label="Unified Model Gateway, home page">
      <Group gap={10} wrap="nowrap">
        <img src={`${import.meta.env.BASE_URL}mark.svg`} width={26} height={26} alt="" />
        <Text fw={600} size="sm" lh={1.2}>
          Model Gateway
        </Text>
      </Group>
    </Anchor>
  )
}
