import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'

/** The rows of a table. */
export type Rows = readonly Readonly<Record<string, SQLOutputValue>>[]

/** A copy may have rows in another order. */
const sorted = (rows: Rows): Rows =>
  rows
    .map((row) => JSON.stringify(row))
    .sort()
    .map((text) => JSON.parse(text))

/** Reads all of a SQLite database: its schema, and the rows of each table. */
export function contentsOf(file: string): Readonly<Record<string, Rows>> {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = (query: string): Rows => database.prepare(query).all()
  try {
    const schema = rows('select type, name, sql from sqlite_schema order by name')
    const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => String(name))
    return { schema, ...Object.fromEntries(tables.map((name) => [name, sorted(rows(`select * from "${name}"`))])) }
  } finally {
    database.close()
  }
}
