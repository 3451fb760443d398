import { Anchor, Group, Text } from '@mantine/core'
import { Link } from 'react-router'

/** The logo and the name: a link to the home page. */
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
