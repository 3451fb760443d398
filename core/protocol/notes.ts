import { dropped, type ParameterSupport } from '../sdk/parameters.ts'

/** What only an upstream of the client's protocol can serve. */
export interface Foreign {
  /** Its place in the client's body. */
  readonly param: string
  readonly hint: string
  /** Of a reference, the error for what is not found. */
  readonly missing?: { readonly row: 'previous_response_not_found' | 'item_not_found'; readonly id: unknown }
}

/** What a translation finds in a request that chat completions, or most upstreams, have no place for. */
export class Notes {
  readonly #dropped = new Set<string>()
  hasCacheMarks = false
  foreign: Foreign | undefined

  /** Something harmless is left out. `name`: of the member, as `x-umg-params-dropped` shows it. */
  drop(name: string): void {
    this.#dropped.add(name)
  }

  refuse(param: string, hint: string, missing?: Foreign['missing']): void {
    this.foreign ??= { param, hint, ...(missing && { missing }) }
  }

  /** A member of the request, by the table of its protocol. A member that is not in it is left out. */
  member(name: string, table: Readonly<Record<string, ParameterSupport>>): void {
    const support = Object.hasOwn(table, name) ? table[name]! : dropped
    if (support.support === 'dropped') this.drop(name)
    if (support.support === 'refused') this.refuse(name, support.why ?? '')
  }

  get dropped(): readonly string[] {
    return [...this.#dropped]
  }

  /** The `cache_control` of a block, for the part that it becomes. */
  marksOf(block: { readonly cache_control?: unknown }): { readonly cache_control?: object } {
    const { cache_control: mark } = block
    if (typeof mark !== 'object' || mark === null) return {}
    this.hasCacheMarks = true
    return { cache_control: mark }
  }
}
