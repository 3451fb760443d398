import type { Command } from 'commander'
import { examples, jsonOption } from '../options.ts'
import type { CommandIo } from '../output.ts'

/** Adds `umg init`. */
export function addProjectCommands(umg: Command, io: CommandIo, version: string): void {
  umg
    .command('init')
    .description('make a project: a routing table, a plugin of its own with a test, and package.json')
    .argument('[folder]', 'the folder of the project; files that are there stay as they are', '.')
    .addOption(jsonOption())
    .addHelpText('after', INIT_EXAMPLES)
    .action(async (folder: string, options) => {
      const { init } = await import('./init.ts')
      process.exitCode = await init(folder, { ...options, version }, io)
    })
}

const INIT_EXAMPLES = examples(['umg init', 'umg init my-gateway'])
