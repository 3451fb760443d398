import { useQuery } from '@tanstack/react-query'
import { get, type Schemas } from './http.ts'

/** A model that the account may call. */
export type Model = Schemas['Model']

const NONE: readonly Model[] = []

/** The models, and the state of reading them. */
export function useModels() {
  const query = useQuery({ queryKey: ['/models'], queryFn: () => get('/models', {}), staleTime: 60_000 })
  return { ...query, models: query.data?.data ?? NONE }
}
