import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { get, type QueryOf, type Schemas } from './http.ts'
import { useList } from './list.ts'

/** A line of the audit trail. */
export type AuditEntry = Schemas['AuditEntry']

/** The routes.yaml in use, and the outcome of the last reload. */
export type Config = Schemas['Config']

/** The routing table as a graph. */
export type RoutingTable = Schemas['RoutingTable']

/** A namespace: a provider, or routes. */
export type Namespace = Schemas['Namespace']

/** One of several credentials of a namespace. */
export type Credential = Schemas['Credential']

/** A target of a route. */
export type Target = Schemas['Target']

/** The state of a target's circuit breaker. */
export type Health = NonNullable<Target['health']>

/** How the last attempt at a target ended. */
export type LastCall = NonNullable<Target['last_call']>

/** The attempts at a target in the last minutes. */
export type RecentAttempts = Schemas['RecentAttempts']

/** The last failure of a target. */
export type LastError = Schemas['LastError']

/** Why the models of a namespace could not be listed. */
export type DiscoveryError = Schemas['DiscoveryError']

/** The audit trail, newest first. */
export const useAudit = (filters: QueryOf<'/audit'>) => useList('/audit', filters)

/** How often the state of the configuration is read again, in milliseconds: on the page where people wait for their change, and on others. */
const WATCHED_MS = 2000
const UNWATCHED_MS = 30_000

/** Which configuration is in use; read again now and then, since it can be reloaded. */
export function useConfigState({ enabled = true, every = UNWATCHED_MS } = {}) {
  return useQuery({
    queryKey: ['/config/state'],
    queryFn: () => get('/config/state', {}),
    refetchInterval: every,
    enabled,
  })
}

/** The configuration, which may have megabytes: read again only if its state has changed. */
export function useConfig() {
  const state = useConfigState({ every: WATCHED_MS })
  const { sha256, last_reload } = state.data ?? {}
  const config = useQuery({
    queryKey: ['/config', sha256, last_reload?.at],
    queryFn: () => get('/config', {}),
    enabled: sha256 !== undefined,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
  return {
    data: config.data,
    error: state.error ?? config.error,
    retry: () => void (state.error === null ? config.refetch() : state.refetch()),
  }
}

/** The routing table, with the state of its targets. */
export function useRoutes() {
  return useQuery({ queryKey: ['/routes'], queryFn: () => get('/routes', {}), refetchInterval: 10_000 })
}
