import { useMutation, useQueryClient } from '@tanstack/react-query'

/** A change, after which the lists it touched are read anew. The reply may carry a secret: nothing of it is kept. */
export function useChange<Input, Reply>(change: (input: Input) => Promise<Reply>, ...touched: readonly string[]) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    gcTime: 0,
    onSuccess: () => Promise.all(touched.map((path) => client.invalidateQueries({ queryKey: [path] }))),
  })
}
