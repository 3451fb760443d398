import { Code, Text } from '@mantine/core'
import type { ApiKey } from '../../api/keys.ts'

/** Which key a dialog is about: several may have one name. */
export function KeyIdentity({ apiKey: { masked, account } }: { readonly apiKey: Pick<ApiKey, 'masked' | 'account'> }) {
  return (
    <Text size="sm">
      <Code>{masked}</Code> of account <b>{account.name}</b>
    </Text>
  )
}
