import { Anchor, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { ApiKey } from '../../api/keys.ts'

/** Keys with the secrets of one rotated key below each other, the newest first. */
export function inChains(keys: readonly ApiKey[]): readonly ApiKey[] {
  const byId = new Map(keys.map((key) => [key.id, key]))
  const older = (key: ApiKey): readonly ApiKey[] => {
    const before = key.replaces === undefined ? undefined : byId.get(key.replaces)
    return before === undefined ? [key] : [key, ...older(before)]
  }
  const isLatest = ({ replaced_by }: ApiKey): boolean => replaced_by === undefined || !byId.has(replaced_by)
  return keys.filter(isLatest).flatMap(older)
}

/** The key of a rotation, and the keys of the list. */
export interface KeyChainProps {
  readonly apiKey: ApiKey
  readonly rows: readonly ApiKey[]
}

/** What a rotated key has become, or what it came from, with a link that shows both. */
export function KeyChain({ apiKey: { id, replaces, replaced_by }, rows }: KeyChainProps) {
  const other = replaced_by ?? replaces
  if (other === undefined) return null
  const known = rows.find((row) => row.id === other)
  return (
    <Text size="xs" c="dimmed">
      {replaced_by === undefined ? 'New secret, in place of ' : 'Old secret, replaced by '}
      <Anchor component={Link} to={`/keys?q=${id}`} size="xs" title="Show both">
        {known === undefined ? 'another' : known.masked}
      </Anchor>
    </Text>
  )
}
