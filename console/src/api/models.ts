import { useQuery } from '@tanstack/react-query'
import { get } from './http.ts'

/** A model that the account may call. */
export interface Model {
  /** `<namespace>/<model>` */
  readonly id: string
  readonly namespace: string
  readonly owned_by: string
  /** In tokens. */
  readonly context_length?: number
  /** A route of the table, with targets behind it. */
  readonly curated: boolean
  readonly available: boolean
  /** What keeps it from answering. */
  readonly why?: string
}

const NONE: readonly Model[] = []

/** The models, and how reading them went. */
export function useModels() {
  const query = useQuery({
    queryKey: ['/models'],
    queryFn: () => get<{ readonly data: readonly Model[] }>('/models'),
    staleTime: 60_000,
  })
  return { ...query, models: query.data?.data ?? NONE }
}
