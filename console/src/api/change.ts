import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { PathOf } from './http.ts'

/** A change, after which the lists at the `touched` paths are read again. The reply may have a secret: it is not cached. */
export function useChange<Input, Reply>(change: (input: Input) => Promise<Reply>, ...touched: readonly PathOf<'get'>[]) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    gcTime: 0,
    onSuccess: () => Promise.all(touched.map((path) => client.invalidateQueries({ queryKey: [path] }))),
  })
}
