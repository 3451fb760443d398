import { useSearchParams } from 'react-router'

/** Filters kept in the URL, so that a link includes them. Defaults are left out. */
export function useFilters<Filters extends Record<string, string>>(defaults: Filters) {
  const [search, setSearch] = useSearchParams()
  const filters = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, search.get(name) ?? value]),
  ) as Filters
  function setFilters(changes: Partial<Filters>): void {
    const change = (before: URLSearchParams): URLSearchParams => {
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === defaults[name]) before.delete(name)
        else before.set(name, value)
      }
      return before
    }
    setSearch(change, { replace: true })
  }
  return [filters, setFilters] as const
}
