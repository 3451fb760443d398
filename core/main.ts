import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { addCallCommands } from './cli/call-commands.ts'
import { addTableCommands } from './cli/config-commands.ts'
import { addExamples } from './cli/examples.ts'
import { addGatewayCommands } from './cli/gateway-commands.ts'
import { addKeyCommands } from './cli/key-commands.ts'
import { addPeopleCommands } from './cli/people-commands.ts'
import { addStartCommand } from './cli/start-command.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** The exit code that shells show for a program that SIGPIPE ended. */
const ENDED_BY_SIGPIPE = 141

const io = { env: process.env, stdout: process.stdout, stderr: process.stderr }

/** What is printed to, as long as somebody reads it. */
const outputs = new Set([process.stdout, process.stderr])
/** Whether this is a gateway: its calls go on when nobody reads what it prints. */
let serves = false
for (const stream of outputs)
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    // `umg schema | head`: as SIGPIPE, which Node ignores, ends other programs.
    if (!serves) process.exit(ENDED_BY_SIGPIPE)
    outputs.delete(stream)
  })

const umg = new Command('umg')
  .description('Unified Model Gateway: any OpenAI SDK, one address, one key, any model.')
  .version(version)
  .showHelpAfterError('(umg --help shows what there is)')
  .exitOverride()
  .hook('preAction', (_, command) => {
    serves = command.name() === 'start'
  })

addStartCommand(umg, io, end)
addTableCommands(umg, io, end)
addGatewayCommands(umg, io, end)

addKeyCommands(umg, io)
addPeopleCommands(umg, io)
addCallCommands(umg, io)
addExamples(umg)

try {
  await umg.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  // 1 is what a command says of what it was asked about; 2, that it was not asked rightly.
  process.exitCode = error.exitCode === 0 ? 0 : 2
}

/**
 * Ends a process in which plugins ran, once what it printed is out: one may have left a timer or a socket behind, which would keep it
 * for ever.
 */
async function end(code: number): Promise<void> {
  process.exitCode = code
  for (const stream of outputs) await new Promise((resolve) => stream.write('', resolve))
  process.exit()
}
