import { Box } from '@mantine/core'
import { Failure } from './failure.tsx'

/** The errors of actions without a dialog. */
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
