import { Skeleton, Stack } from '@mantine/core'

/** While a page's code is on its way. */
export function PageSkeleton() {
  return (
    <Stack maw={1280} mx="auto" aria-busy="true" aria-label="Loading">
      <Skeleton h={26} w={180} />
      <Skeleton h={14} w={360} maw="80%" />
      <Skeleton h={320} mt="md" />
    </Stack>
  )
}
