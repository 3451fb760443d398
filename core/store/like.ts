import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Whether a column contains a text, in whatever case. `%` and `_` in it mean themselves. */
export function contains(column: string, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${sql.ref(column)}) like lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`}) escape '\\'`
}
