import type { StoreIo } from './with-store.ts'

/** Says on stderr, for people, that nobody has looked whether there is such a rate class: the store knows no routing table. */
export function tellUnchecked(rateClass: string | undefined, io: StoreIo): void {
  if (rateClass === undefined) return
  const why = 'this command reads no routing table'
  io.stderr.write(`The rate class "${rateClass}" was not checked: ${why}. routes.yaml must declare it, else calls are refused.\n`)
}
