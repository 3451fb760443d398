import { Command, CommanderError } from 'commander'
import { addBackupCommands } from './cli/backup/commands.ts'
import { addCallCommands } from './cli/calls/commands.ts'
import { addConfigCommands } from './cli/config/commands.ts'
import { addGatewayCommands } from './cli/gateway/commands.ts'
import { ownVersion } from './cli/installed-version.ts'
import { addKeyCommands } from './cli/keys/commands.ts'
import { addPeopleCommands } from './cli/people/commands.ts'
import { addProjectCommands } from './cli/project/commands.ts'
import { readSecretFiles, SecretFileError } from './cli/secret-files.ts'
import { addStartCommand } from './cli/start/commands.ts'

const version = ownVersion()

/** The exit code that shells show for a program that SIGPIPE ended. */
const ENDED_BY_SIGPIPE = 141
/** The exit code for a command that was not written correctly; 1 is a command's negative result. */
const USAGE_ERROR = 2

const secrets = secretsOrEnd()
// Here commander finds the variables of options.
Object.assign(process.env, secrets)
const io = { env: { ...process.env }, stdout: process.stdout, stderr: process.stderr }

/** The streams that still have a reader. */
const outputs = new Set([process.stdout, process.stderr])
/** Whether the command is `start`: the calls of a gateway go on if nothing reads its output. */
let isGateway = false
for (const stream of outputs)
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    // `umg schema | head`: Node ignores SIGPIPE, which ends other programs.
    if (!isGateway) process.exit(ENDED_BY_SIGPIPE)
    outputs.delete(stream)
  })

const umg = new Command('umg')
  .description('Unified Model Gateway: any OpenAI SDK, one address, one key, any model.')
  .version(version)
  .showHelpAfterError('(umg --help lists the commands)')
  .exitOverride()
  .hook('preAction', (_, command) => {
    isGateway = command.name() === 'start'
    // Other processes read the files themselves, and plugins need not see what is in them.
    for (const name in secrets) delete process.env[name]
  })

addStartCommand(umg, io, end)
addConfigCommands(umg, io, end)
addProjectCommands(umg, io, version)
addGatewayCommands(umg, io, end)
addKeyCommands(umg, io)
addPeopleCommands(umg, io)
addCallCommands(umg, io)
addBackupCommands(umg, io, version)

try {
  await umg.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR
}

/** The variables that files hold. Ends the process if one of them cannot be read. */
function secretsOrEnd(): Readonly<Record<string, string>> {
  try {
    return readSecretFiles(process.env)
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(USAGE_ERROR)
  }
}

/** Ends the process once its output is written. Without it, timers and sockets that plugins left open would keep the process alive. */
async function end(code: number): Promise<void> {
  process.exitCode = code
  for (const stream of outputs) await new Promise((resolve) => stream.write('', resolve))
  process.exit()
}
