import { Drawer, Skeleton, Stack } from '@mantine/core'
import { useRequest } from '../../api/requests.ts'
import { Failure } from '../../ui/failure.tsx'
import { useFocusReturn } from '../../ui/use-focus-return.ts'
import { RequestDetails } from './request-details.tsx'

/** The details of a call, beside the list. */
export function RequestDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  useFocusReturn()
  const { data, error, refetch } = useRequest(id)
  return (
    <Drawer opened onClose={onClose} title="Request" size={560} overlayProps={{ backgroundOpacity: 0.25 }}>
      {data !== undefined && <RequestDetails row={data} />}
      {error !== null && data === undefined && <Failure error={error} title="Not found" onRetry={() => void refetch()} />}
      {error === null && data === undefined && (
        <Stack aria-busy="true">
          <Skeleton h={20} w="70%" />
          <Skeleton h={256} />
          <Skeleton h={240} />
        </Stack>
      )}
    </Drawer>
  )
}
