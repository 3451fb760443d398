import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, escapeIdentifier } from 'pg'
import { newId } from '../../core/text/ids.ts'
import { describeWith, find } from './requirements.ts'

/** A temporary database. */
interface TestDatabase {
  readonly url: string
  remove(): Promise<void>
}

const KINDS: Readonly<Record<string, () => Promise<TestDatabase>>> = { SQLite: sqliteDatabase, PostgreSQL: postgresDatabase }

/**
 * Defines the same tests for each kind of database. `database` creates an empty one and resolves to its URL; it is removed after
 * the last of these tests. Without a server, the tests on PostgreSQL are skipped.
 */
export function onEachDatabase(title: string, define: (database: () => Promise<string>, kind: string) => void): void {
  for (const kind of Object.keys(KINDS)) describe(kind, () => onDatabase(kind, title, define))
}

/** Defines tests on SQLite only. */
export function onSqlite(title: string, define: (database: () => Promise<string>) => void): void {
  describe('SQLite', () => onDatabase('SQLite', title, define))
}

/** Defines tests on PostgreSQL only. */
export function onPostgres(title: string, define: (database: () => Promise<string>) => void): void {
  describe('PostgreSQL', () => onDatabase('PostgreSQL', title, define))
}

function onDatabase(kind: string, title: string, define: (database: () => Promise<string>, kind: string) => void): void {
  const made: TestDatabase[] = []
  // The outer hook: the tests close their connections first.
  after(() => Promise.all(made.splice(0).map((database) => database.remove())))
  const tests = () =>
    define(async () => {
      const database = await KINDS[kind]!()
      made.push(database)
      return database.url
    }, kind)
  if (kind === 'PostgreSQL') describeWith('postgres', title, tests)
  else describe(title, tests)
}

async function sqliteDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-database-'))
  return { url: `sqlite:${join(folder, 'gateway.db')}`, remove: () => rm(folder, { recursive: true }) }
}

async function postgresDatabase(): Promise<TestDatabase> {
  const name = escapeIdentifier(`umg_${newId('key').toLowerCase()}`)
  await onServer(`create database ${name}`)
  const url = new URL(find('postgres')!)
  url.pathname = `/${name.replaceAll('"', '')}`
  return { url: url.href, remove: () => onServer(`drop database ${name} with (force)`) }
}

async function onServer(statement: string): Promise<void> {
  const client = new Client(find('postgres'))
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
