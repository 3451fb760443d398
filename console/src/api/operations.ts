import { useQuery } from '@tanstack/react-query'
import { get } from './http.ts'
import type { Named } from './keys.ts'
import { useList } from './list.ts'

/** Something that a person or the gateway did. */
export interface AuditRow {
  readonly id: string
  readonly at: string
  /** Null: the gateway itself, or nobody known. */
  readonly actor: Named | null
  /** Such as `key.create`. */
  readonly action: string
  readonly object: { readonly type: string; readonly id: string | null; readonly name: string }
  readonly ip: string | null
  /** Before and after, by field. */
  readonly changes: Readonly<Record<string, readonly [unknown, unknown]>>
}

/** What is wrong at a place of routes.yaml. Lines and columns from 1. */
export interface Diagnostic {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The table that is served, and how the last reload went. */
export interface ConfigStatus {
  readonly file: string
  readonly text: string
  readonly sha256: string
  readonly loaded_at: string
  /** Those that a key or an account can be given. */
  readonly rate_classes: readonly string[]
  readonly last_reload: {
    readonly at: string
    readonly ok: boolean
    readonly diagnostics: readonly Diagnostic[]
    readonly difference: readonly string[]
  } | null
}

/** The state of a target's breaker. */
export type Health = 'closed' | 'open' | 'half_open'

/** One choice of a route. */
export interface RouteTarget {
  readonly model: string
  readonly weight: number
  /** 0 to 1; absent where weights do not decide. */
  readonly share?: number
  /** Absent for another route. */
  readonly health?: Health
}

/** A namespace: a provider, or curated routes over others. Lines are those of routes.yaml. */
export interface RouteNamespace {
  readonly name: string
  /** Null: its routes stand for models of other namespaces. */
  readonly provider: string | null
  /** What keeps it from answering. */
  readonly dormant?: string
  /** Names and globs; absent: any model passes. */
  readonly models?: readonly string[]
  readonly line: number
  readonly routes: readonly {
    readonly name: string
    readonly line: number
    readonly targets: readonly RouteTarget[]
    /** In the order in which they follow. */
    readonly fallbacks: readonly RouteTarget[]
  }[]
}

/** The routing table as a graph. */
export interface RouteTable {
  readonly aliases: readonly { readonly name: string; readonly to: string }[]
  readonly namespaces: readonly RouteNamespace[]
}

/** The audit trail, the newest first. */
export const useAudit = (filters: {
  readonly action?: string
  readonly actor?: string
  readonly from?: string
  readonly to?: string
}) => useList<AuditRow>('/audit', { ...filters })

/** The table; read again now and then, since it reloads while it runs. */
export function useConfig(enabled = true) {
  return useQuery({ queryKey: ['/config'], queryFn: () => get<ConfigStatus>('/config'), refetchInterval: 30_000, enabled })
}

/** The graph with its health. */
export function useRoutes() {
  return useQuery({ queryKey: ['/routes'], queryFn: () => get<RouteTable>('/routes'), refetchInterval: 10_000 })
}
