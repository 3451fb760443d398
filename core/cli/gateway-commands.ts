import { type Command, InvalidArgumentError, Option } from 'commander'
import { AskError, defaultUrl } from './ask-gateway.ts'
import type { CommandIo } from './io.ts'

/** The commands that talk to a running gateway. `end` ends the process, whatever plugins have left behind in it. */
export function addGatewayCommands(umg: Command, io: CommandIo, end: (code: number) => Promise<void>): void {
  const { env } = io
  const urlOption = () =>
    new Option('--url <url>', 'where the gateway listens for operators')
      .env('UMG_ADMIN_URL')
      .argParser(toUrl)
      .default(defaultUrl(env))

  umg
    .command('reload')
    .description('have a running gateway read its routing table again; UMG_ADMIN_KEY says who asks')
    .addOption(urlOption())
    .addHelpText('after', RELOAD_EXAMPLES)
    .action(async (options) => {
      const { reload } = await import('./reload.ts')
      await end(await answered(reload(options, io), io))
    })

  umg
    .command('diff')
    .description('show what a routing table would change in a running gateway; UMG_ADMIN_KEY says who asks')
    .argument('[file]', 'the routing table', env.UMG_ROUTES ?? 'routes.yaml')
    .addOption(urlOption())
    .addHelpText('after', DIFF_EXAMPLES)
    .action(async (file: string, options) => {
      const { diff } = await import('./diff.ts')
      await end(await answered(diff(file, options, io), io))
    })

  umg
    .command('healthcheck')
    .description('say whether a gateway is ready, for the HEALTHCHECK of a container')
    .addOption(urlOption())
    .addHelpText('after', HEALTHCHECK_EXAMPLES)
    .action(async (options) => {
      const { healthcheck } = await import('./healthcheck.ts')
      await end(Math.min(1, await answered(healthcheck(options, io), io)))
    })
}

/** The exit code of a command; 2 where the gateway could not be asked. */
async function answered(command: Promise<number>, { stderr }: CommandIo): Promise<number> {
  try {
    return await command
  } catch (error) {
    if (!(error instanceof AskError)) throw error
    stderr.write(`${error.message}\n`)
    return 2
  }
}

function toUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('Give a URL, such as http://127.0.0.1:8080.')
  return text
}

const RELOAD_EXAMPLES = `
Examples:
  umg reload
  umg reload --url http://gateway.internal:9090

It prints what is otherwise than before. Exit codes: 0 loaded; 1 the table is wrong, and the one before
stays in use; 2 the gateway could not be asked. A changed file is loaded by itself, and so it is on SIGHUP.
`

const DIFF_EXAMPLES = `
Examples:
  umg diff routes.yaml
  umg diff next.yaml --url http://gateway.internal:9090

Exit codes: 0 nothing would change; 1 something would; 2 the file is not valid, or the gateway could not be asked.
`

const HEALTHCHECK_EXAMPLES = `
Examples:
  umg healthcheck
  umg healthcheck --url http://127.0.0.1:9090

Exit codes: 0 it takes calls; 1 it does not, or does not answer.
`
