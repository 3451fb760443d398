import { type Command, Option } from 'commander'
import { FORMATS } from './findings.ts'
import type { CommandIo } from './io.ts'

const VALIDATE_EXAMPLES = `
Exits with 0 where the table is right, 1 where it is not, 2 where there is none.

Examples:
  umg validate                             routes.yaml of this folder
  umg validate staging.yaml --online       asks every upstream too
  umg validate --format github             annotations for a pull request
`

/** Adds the commands that look at a routing table, beside a running gateway or without one. */
export function addTableCommands(umg: Command, io: CommandIo, end: (code: number) => never): void {
  const table = process.env.UMG_ROUTES ?? 'routes.yaml'

  umg
    .command('validate')
    .description('check a routing table: every error at once, with its place and a suggestion')
    .argument('[file]', 'the routing table', table)
    .option('--online', 'ask every upstream whether it can be used')
    .addOption(new Option('--format <format>', 'how to print').choices(FORMATS).default('pretty'))
    .addHelpText('after', VALIDATE_EXAMPLES)
    .action(async (file: string, options) => {
      const { validate } = await import('./validate.ts')
      end(await validate(file, options, io))
    })
}
