import { useQuery } from '@tanstack/react-query'
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

/** The audit trail, newest first. */
export const useAudit = (filters: QueryOf<'/audit'>) => useList('/audit', filters)

/** The configuration; read again now and then, since it can be reloaded. */
export function useConfig(enabled = true) {
  return useQuery({ queryKey: ['/config'], queryFn: () => get('/config', {}), refetchInterval: 30_000, enabled })
}

/** The routing table, with the state of its targets. */
export function useRoutes() {
  return useQuery({ queryKey: ['/routes'], queryFn: () => get('/routes', {}), refetchInterval: 10_000 })
}
