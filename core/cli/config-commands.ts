import { type Command, InvalidArgumentError, Option } from 'commander'
import { RETRY_CAUSES, type RetryCause } from '../config/schema/retry-causes.ts'
import { didYouMean } from '../text/suggestions.ts'
import { FORMATS } from './findings.ts'
import type { CommandIo } from './io.ts'
import { databaseOption, dataOption } from './options.ts'

/**
 * The commands that look at a routing table, whether a gateway runs with it or not. `end` ends the process, whatever plugins have left
 * behind in it.
 */
export function addTableCommands(umg: Command, io: CommandIo, end: (code: number) => Promise<void>): void {
  const table = io.env.UMG_ROUTES ?? 'routes.yaml'

  umg
    .command('validate')
    .description('check a routing table: every error at once, with its place and a suggestion')
    .argument('[file]', 'the routing table', table)
    .option('--online', 'ask every upstream too whether it can be used')
    .addOption(new Option('--format <format>', 'how to print').choices(FORMATS).default('pretty'))
    .addHelpText('after', VALIDATE_EXAMPLES)
    .action(async (file: string, options) => {
      const { validate } = await import('./validate.ts')
      await end(await validate(file, options, io))
    })

  umg
    .command('explain')
    .description('show what becomes of calls that name a model, each step with its line in the table')
    .argument('<model>', 'a model as clients name it: an id or an alias')
    .option('--key <id>', 'whose calls: key_…, or the name of a key of the table')
    .option('--failing <name=cause>', 'suppose that a namespace or a model fails; may be repeated', addFailing)
    .addOption(new Option('--format <format>', 'how to print').choices(['pretty', 'json']).default('pretty'))
    .addOption(new Option('--routes <file>', 'the routing table').default(table))
    .addOption(dataOption())
    .addOption(databaseOption())
    .addHelpText('after', EXPLAIN_EXAMPLES)
    .action(async (model: string, options) => {
      const { explain } = await import('./explain.ts')
      await end(await explain(model, options, io))
    })

  umg
    .command('schema')
    .description('print the JSON Schema of routing tables, for editors')
    .argument('[file]', 'a routing table whose own plugins are to be in it')
    .addHelpText('after', SCHEMA_EXAMPLES)
    .action(async (file: string | undefined) => {
      const { schema } = await import('./schema.ts')
      await end(await schema(file, io))
    })

  const routes = umg.command('routes').description('what a routing table does')

  routes
    .command('test')
    .description('hold a routing table against the expectations in it')
    .argument('[file]', 'the routing table', table)
    .addHelpText('after', ROUTES_TEST_EXAMPLES)
    .action(async (file: string) => {
      const { testRoutes } = await import('./route-tests.ts')
      await end(await testRoutes(file, io))
    })
}

/** Takes `openai=429` to what came before. */
function addFailing(text: string, before: ReadonlyMap<string, RetryCause> = new Map()): ReadonlyMap<string, RetryCause> {
  const [, name = '', cause = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (name === '') throw new InvalidArgumentError('Write NAME=CAUSE, such as openai=timeout.')
  const known = RETRY_CAUSES.find((each) => each === cause)
  if (known !== undefined) return new Map([...before, [name, known]])
  throw new InvalidArgumentError(
    `"${cause}" is no cause${didYouMean(cause, RETRY_CAUSES) || `; there are ${RETRY_CAUSES.join(', ')}.`}`,
  )
}

const VALIDATE_EXAMPLES = `
Examples:
  umg validate
  umg validate staging.yaml --online
  umg validate --format github

Exit codes: 0 it is right; 1 it is not; 2 there is nothing to check.
`

const EXPLAIN_EXAMPLES = `
Examples:
  umg explain gpt-4o
  umg explain acme/smart --key key_V7vT2kYw
  umg explain acme/smart --failing openai=timeout --failing claude=429

No upstream is asked. Exit codes: 0 such calls are served; 1 they are refused; 2 it cannot be told.
`

const SCHEMA_EXAMPLES = `
Examples:
  umg schema > routes.schema.json
  umg schema routes.yaml > routes.schema.json

With this first line in routes.yaml, editors complete and check it:
  # yaml-language-server: $schema=./routes.schema.json
`

const ROUTES_TEST_EXAMPLES = `
Examples:
  umg routes test
  umg routes test staging.yaml

In the table:
  expect:
    gpt-4o: openai/gpt-5.5
    acme/smart:
      - to: openai/gpt-5.5
      - { failing: { openai: 5xx }, to: claude/claude-sonnet-5 }

No upstream is asked. Exit codes: 0 all hold; 1 some do not; 2 there are none, or the table is not valid.
`
