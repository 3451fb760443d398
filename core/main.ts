import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addCallCommands } from './cli/call-commands.ts'
import { addTableCommands } from './cli/config-commands.ts'
import { addExamples } from './cli/examples.ts'
import { addGatewayCommands } from './cli/gateway-commands.ts'
import { addKeyCommands } from './cli/key-commands.ts'
import { addPeopleCommands } from './cli/people-commands.ts'
import { addStartCommand } from './cli/start-command.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const io = { env: process.env, stdout: process.stdout, stderr: process.stderr }

const umg = new Command('umg')
  .description('Unified Model Gateway: any OpenAI SDK, one address, one key, any model.')
  .version(version)
  .showHelpAfterError('(umg --help shows what there is)')
  // 1 is what a command says of what it was asked about; 2, that it was not asked rightly.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))

addStartCommand(umg, io, end)
addTableCommands(umg, io, end)
addGatewayCommands(umg, io, end)

addKeyCommands(umg, io)
addPeopleCommands(umg, io)
addCallCommands(umg, io)
addExamples(umg)

await umg.parseAsync()

/** Ends a process in which plugins ran: one may have left a timer or a socket behind, which would keep it for ever. */
function end(code: number): never {
  process.exit(code)
}
