import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import type { Migration } from 'kysely/migration'
import { MIGRATIONS } from '../../../core/store/migrate.ts'
import { readText } from '../../support/sources.ts'
import { makeOldDatabase } from './old-database.ts'

type Columns = ReadonlyMap<string, { readonly required: boolean }>

/** The tables after the first migrations. `required`: whether an insert must name the column. */
async function tablesAfter(names: readonly string[]): Promise<ReadonlyMap<string, Columns>> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'umg-migrations-'))
  const file = join(folder.path, 'gateway.db')
  const migrations: Record<string, Migration> = Object.fromEntries(names.map((name) => [name, MIGRATIONS[name]!]))
  await makeOldDatabase(`sqlite:${file}`, { migrations, fill: async () => undefined })
  const database = new DatabaseSync(file)
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all()
  const columnsOf = (table: string): Columns => {
    const columns = database.prepare(`pragma table_info("${table}")`).all()
    return new Map(
      columns.map(({ name, notnull, dflt_value }) => [String(name), { required: notnull === 1 && dflt_value === null }]),
    )
  }
  const result = new Map(tables.map(({ name }) => [String(name), columnsOf(String(name))]))
  database.close()
  return result
}

describe('a migration', () => {
  const names = Object.keys(MIGRATIONS).sort()
  for (const [index, name] of names.entries()) {
    if (index === 0 || name.endsWith('-breaking')) continue
    it(`is survived by older versions: they can read and write the tables after ${name}`, async () => {
      const before = await tablesAfter(names.slice(0, index))
      const after = await tablesAfter(names.slice(0, index + 1))
      for (const [table, columns] of before) {
        const now = after.get(table)
        expect([...(now?.keys() ?? [])], table).to.include.members([...columns.keys()])
        for (const [column, { required }] of now!)
          expect(required && !columns.get(column)?.required, `${table}.${column} needs a default value`).to.equal(false)
      }
    })
  }
})

describe('docs/backup.md', () => {
  it('has each migration, and none that is not', () => {
    const rows = [...readText('docs/backup.md').matchAll(/^\| `(\d{4}-[a-z-]+)` \|/gm)].map(([, name]) => name)
    expect(rows).to.deep.equal(Object.keys(MIGRATIONS).sort())
  })
})
