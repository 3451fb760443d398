import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Store } from '../../core/store/database.ts'
import type { Schema } from '../../core/store/schema.ts'
import type { TestGateway } from '../support/gateway.ts'

/** How many rows each list gets. */
export const MANY = 10_000

/** SQL of some columns; `n` counts from 1. */
type Columns<Table extends keyof Schema> = { readonly [Column in keyof Schema[Table]]?: string }

/** Copies the rows of a table that fit, each ten thousand times, with other values in some columns. */
export async function multiply<Table extends keyof Schema & string>(
  { db }: Store,
  table: Table,
  columns: Columns<Table>,
  fits = 'true',
): Promise<void> {
  const [row] = (await sql`select * from ${sql.table(table)} limit 1`.execute(db)).rows as Record<string, unknown>[]
  const names = Object.keys(row!)
  const changed: Readonly<Record<string, string | undefined>> = columns
  await sql`
    insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(MANY)})
    select ${sql.join(names.map((name) => sql.raw(changed[name] ?? name)))}
    from numbers, (select * from ${sql.table(table)} where ${sql.raw(fits)}) as original
  `.execute(db)
}

/** Fills every list. Each has one row or more, and the names are as long as they may be. */
export async function fillLists(store: Store): Promise<void> {
  const named = (what: string): string =>
    `substr('${what} with a name that is as long as a name may be, in letters and in words, ', 1, 90) || n`
  await multiply(
    store,
    'keys',
    { id: "'key_' || n", digest: "'digest ' || n", name: named('A service'), created_at: 'created_at + n' },
    "id = (select min(id) from keys where kind = 'live')",
  )
  await multiply(store, 'accounts', { id: "'acc_' || n", name: named('A customer') }, "id = 'default'")
  await multiply(
    store,
    'users',
    { id: "'usr_' || n", email: "'person' || n || '@example.com'", name: named('A person'), role: "'member'", password: 'null' },
    "role = 'admin'",
  )
  await multiply(store, 'invitations', {
    id: "'inv_' || n",
    digest: "'digest ' || n",
    email: "'guest' || n || '@example.com'",
  })
  await multiply(
    store,
    'audit',
    { id: "'aud_' || n", position: 'null', previous: 'null', hash: 'null', object_name: named('A service') },
    "id = (select max(id) from audit where action = 'key.create' or action = 'invitation.create')",
  )
  await multiply(store, 'calls', {
    id: "substr(id, 1, 16) || printf('%020x', n)",
    key_id: "'key_' || n",
  })
  await multiply(store, 'usage', { name: "'key_' || n" }, "dimension = 'key'")
  await sql`update usage set requests = requests + ${sql.lit(MANY)} where dimension = 'all'`.execute(store.db)
}

/** Adds as many routes, each with an alias, to the routes.yaml of the console's fixture. */
export async function fillTable(gateway: TestGateway): Promise<void> {
  const file = join(gateway.folder, 'routes.yaml')
  const numbers = Array.from({ length: MANY }, (_, index) => index)
  const routes = numbers.map((n) => `      route-${n}:\n        targets: [{ model: openai/gpt-5.5 }]\n`)
  const aliases = numbers.map((n) => `  alias-${n}: acme/route-${n}\n`)
  const text = (await readFile(file, 'utf8'))
    .replace('      fast:\n', `${routes.join('')}      fast:\n`)
    .replace(/^aliases: .*\n/m, '')
  await writeFile(file, `${text.trimEnd()}\naliases:\n${aliases.join('')}`)
  await gateway.reload()
}
