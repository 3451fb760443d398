import { type Command, Option } from 'commander'
import { reachable } from '../../http/listen.ts'
import { examples, jsonOption, toHttpUrl } from '../options.ts'
import type { CommandIo } from '../output.ts'

// Loaded when a command runs: help does not need it.
const gateway = () => import('./gateway.ts')

/** Adds the commands that call a running gateway. `end` ends the process, also if plugins have left timers or sockets open. */
export function addGatewayCommands(umg: Command, io: CommandIo, end: (code: number) => Promise<void>): void {
  const { env } = io
  const urlOption = () =>
    new Option('--url <url>', 'URL of the management API').env('UMG_ADMIN_URL').argParser(toHttpUrl).default(defaultUrl(env))

  umg
    .command('reload')
    .description('reload the routing table of a running gateway; UMG_ADMIN_KEY holds an admin key')
    .addOption(jsonOption())
    .addOption(urlOption())
    .addHelpText('after', RELOAD_EXAMPLES)
    .action(async (options) => {
      await end(await (await gateway()).reload(options, io))
    })

  umg
    .command('diff')
    .description('show what a routing table would change in a running gateway; UMG_ADMIN_KEY holds an admin key')
    .argument('[file]', 'the routing table', env.UMG_ROUTES ?? 'routes.yaml')
    .addOption(jsonOption())
    .addOption(urlOption())
    .addHelpText('after', DIFF_EXAMPLES)
    .action(async (file: string, options) => {
      await end(await (await gateway()).diff(file, options, io))
    })

  umg
    .command('healthcheck')
    .description('check whether a gateway is ready, for the HEALTHCHECK of a container')
    .addOption(jsonOption())
    .addOption(urlOption())
    .addHelpText('after', HEALTHCHECK_EXAMPLES)
    .action(async (options) => {
      await end(await (await gateway()).healthcheck(options, io))
    })
}

/**
 * The URL of the management API on this machine, from the variables of `umg start`: in the container of a gateway no option is
 * needed.
 */
export function defaultUrl({ UMG_ADMIN_LISTEN, UMG_HOST, UMG_PORT, PORT, UMG_TLS_CERT }: NodeJS.ProcessEnv): string {
  const [, host = UMG_HOST ?? '127.0.0.1', port = UMG_PORT ?? PORT ?? '8080'] = /^(.+):(\d+)$/.exec(UMG_ADMIN_LISTEN ?? '') ?? []
  const bare = host.replace(/^\[|\]$/g, '')
  return reachable(`${UMG_TLS_CERT ? 'https' : 'http'}://${bare.includes(':') ? `[${bare}]` : bare}:${port}`)
}

const RELOAD_EXAMPLES = examples(
  ['umg reload', 'umg reload --url http://gateway.internal:9090'],
  `Prints what has changed. Exit codes: 0 reloaded; 1 the routing table is not valid, and the previous one
stays in use; 2 the gateway cannot be called. A gateway also reloads a changed file by itself, and on SIGHUP.`,
)

const DIFF_EXAMPLES = examples(
  ['umg diff routes.yaml', 'umg diff next.yaml --url http://gateway.internal:9090'],
  'Exit codes: 0 no differences; 1 differences; 2 the file is not valid, or the gateway cannot be called.',
)

const HEALTHCHECK_EXAMPLES = examples(
  ['umg healthcheck', 'umg healthcheck --url http://127.0.0.1:9090'],
  'Exit codes: 0 the gateway is ready; 1 it is not, or does not answer.',
)
