import { useQuery } from '@tanstack/react-query'
import { get, type Schemas } from './http.ts'

/** A model that the account may call. */
export type Model = Schemas['Model']

const NONE: readonly Model[] = []

/** The models, and the state of reading them. */
export function useModels() {
  const query = useQuery({ queryKey: ['/models'], queryFn: () => get('/models', {}), staleTime: 60_000 })
  const models = query.data?.data ?? NONE
  /** The first one that can be called; '' while none is known. */
  const first = models.find(({ available }) => available)?.id ?? ''
  return { ...query, models, first }
}
