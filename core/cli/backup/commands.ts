import type { Command } from 'commander'
import { databaseOption, dataOption, examples, jsonOption } from '../options.ts'
import type { CommandIo } from '../output.ts'

// Loaded when a command runs: help does not need it.
const backup = () => import('./backup.ts')

/** Adds `umg backup` and `umg restore`. */
export function addBackupCommands(umg: Command, io: CommandIo, version: string): void {
  umg
    .command('backup')
    .description('copy the embedded database and the journal of calls to a file; works while gateways run')
    .argument('<file>', 'the backup; only its owner can read it')
    .option('--overwrite', 'replace the file, if it exists')
    .addOption(jsonOption())
    .addOption(dataOption())
    .addOption(databaseOption())
    .addHelpText('after', BACKUP_EXAMPLES)
    .action(async (file: string, options) => {
      process.exitCode = await (await backup()).backupCommand({ ...options, file, version }, io)
    })

  umg
    .command('restore')
    .description('put a backup in the place of the embedded database, which no gateway may use')
    .argument('<file>', 'made by umg backup')
    .option('--overwrite', 'replace the database, if there is one')
    .addOption(jsonOption())
    .addOption(dataOption())
    .addOption(databaseOption())
    .addHelpText('after', RESTORE_EXAMPLES)
    .action(async (file: string, options) => {
      process.exitCode = await (await backup()).restoreCommand({ ...options, file }, io)
    })
}

const EXIT_CODES = 'Exit codes: 0 done; 1 nothing was changed, and why is on stderr.'

const BACKUP_EXAMPLES = examples(
  ['umg backup /backup/umg.db --overwrite', 'umg backup /backup/umg.db --data /var/lib/umg'],
  `${EXIT_CODES} The tools for PostgreSQL are pg_dump and pg_restore.`,
)

const RESTORE_EXAMPLES = examples(
  ['umg restore /backup/umg.db --data restored', 'umg restore /backup/umg.db --overwrite'],
  EXIT_CODES,
)
