import { Box } from '@mantine/core'
import { Failure } from './failure.tsx'

/** What the gateway refused of actions that have no dialog to say it in. */
export function Refusals({ of }: { readonly of: readonly { readonly error: Error | null }[] }) {
  return of.map(
    ({ error }) =>
      error !== null && (
        <Box key={error.message} mb="md">
          <Failure error={error} />
        </Box>
      ),
  )
}
