import { type Command, InvalidArgumentError, Option } from 'commander'
import { ASSUMED_CAUSES, type AssumedCause } from '../../config/schema/retry-causes.ts'
import { didYouMean } from '../../text/suggestions.ts'
import { databaseOption, dataOption, examples, jsonOption } from '../options.ts'
import type { CommandIo } from '../output.ts'

/**
 * Adds the commands that read a routing table, and need no running gateway. `end` ends the process, also if plugins have left timers
 * or sockets open.
 */
export function addConfigCommands(umg: Command, io: CommandIo, end: (code: number) => Promise<void>): void {
  const defaultFile = io.env.UMG_ROUTES ?? 'routes.yaml'

  umg
    .command('validate')
    .description('check a routing table: all errors at once, with their positions and suggestions')
    .argument('[file]', 'the routing table', defaultFile)
    .option('--online', 'also check every upstream and its credential')
    .addOption(jsonOption().conflicts('github'))
    .option('--github', 'print annotations for GitHub Actions')
    .addHelpText('after', VALIDATE_EXAMPLES)
    .action(async (file: string, options) => {
      const { validate } = await import('./validate.ts')
      await end(await validate(file, options, io))
    })

  umg
    .command('explain')
    .description('show how calls of a model are served, each step with its line in the routing table')
    .argument('<model>', 'a model as clients name it: an id or an alias')
    .option('--key <id>', 'calls with this key: key_…, or the name of a key in the routing table')
    .option('--failing <name=cause>', 'assume that a namespace or a model fails, or is limited; can be repeated', addFailing)
    .addOption(jsonOption())
    .addOption(new Option('--routes <file>', 'the routing table').default(defaultFile))
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
    .argument('[file]', 'a routing table whose own plugins the schema includes')
    .addHelpText('after', SCHEMA_EXAMPLES)
    .action(async (file: string | undefined) => {
      const { schema } = await import('./schema.ts')
      await end(await schema(file, io))
    })

  umg
    .command('fmt')
    .description('format a routing table; comments, quotes and the order of keys stay')
    .argument('[file]', 'the routing table', defaultFile)
    .option('--check', 'change nothing, and fail if the file is not formatted')
    .addHelpText('after', FMT_EXAMPLES)
    .action(async (file: string, options) => {
      const { format } = await import('./format.ts')
      await end(await format(file, options, io))
    })

  umg
    .command('plugins')
    .description('show plugins')
    .command('list')
    .description('list the built-in plugins, and those that a routing table names')
    .argument('[file]', 'the routing table', defaultFile)
    .addOption(jsonOption())
    .addHelpText('after', PLUGINS_EXAMPLES)
    .action(async (file: string, options) => {
      const { listPlugins } = await import('./plugins.ts')
      await end(await listPlugins(file, options, io))
    })

  umg
    .command('routes')
    .description('test routing tables')
    .command('test')
    .description('check the expectations of a routing table')
    .argument('[file]', 'the routing table', defaultFile)
    .addOption(jsonOption())
    .addHelpText('after', ROUTES_TEST_EXAMPLES)
    .action(async (file: string, options) => {
      const { testRoutes } = await import('./route-tests.ts')
      await end(await testRoutes(file, options, io))
    })
}

/** Adds `openai=429` to the values before it. */
function addFailing(text: string, before: ReadonlyMap<string, AssumedCause> = new Map()): ReadonlyMap<string, AssumedCause> {
  const [, name = '', cause = ''] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (name === '') throw new InvalidArgumentError('Write NAME=CAUSE, such as openai=timeout.')
  const known = ASSUMED_CAUSES.find((each) => each === cause)
  if (known !== undefined) return new Map([...before, [name, known]])
  throw new InvalidArgumentError(
    `"${cause}" is not a cause${didYouMean(cause, ASSUMED_CAUSES) || `; the causes are ${ASSUMED_CAUSES.join(', ')}.`}`,
  )
}

const VALIDATE_EXAMPLES = examples(
  ['umg validate', 'umg validate staging.yaml --online', 'umg validate --github'],
  'Exit codes: 0 valid; 1 not valid; 2 the file cannot be read.',
)

const EXPLAIN_EXAMPLES = examples(
  [
    'umg explain gpt-4o',
    'umg explain acme/smart --key key_V7vT2kYw',
    'umg explain acme/smart --failing openai=timeout --failing claude=429',
  ],
  'No upstream is called. Exit codes: 0 such calls are served; 1 they are refused; 2 the routing table or an option is not valid.',
)

const SCHEMA_EXAMPLES = examples(
  ['umg schema > routes.schema.json', 'umg schema routes.yaml > routes.schema.json'],
  `With this first line in routes.yaml, editors complete and check it:
  # yaml-language-server: $schema=./routes.schema.json`,
)

const FMT_EXAMPLES = examples(
  ['umg fmt', 'umg fmt staging.yaml', 'umg fmt --check'],
  'Exit codes: 0 the file is formatted; 1 with --check, it is not; 2 it cannot be read, is not YAML, or cannot be formatted.',
)

const PLUGINS_EXAMPLES = examples(
  ['umg plugins list', 'umg plugins list staging.yaml --json'],
  'Plugins are loaded, and none is created. Exit codes: 0; 1 one of them cannot be loaded; 2 the file cannot be read.',
)

const ROUTES_TEST_EXAMPLES = examples(
  ['umg routes test', 'umg routes test staging.yaml'],
  `In the routing table:
  expect:
    gpt-4o: openai/gpt-5.5
    acme/smart:
      - to: openai/gpt-5.5
      - { failing: { openai: 5xx }, to: claude/claude-sonnet-5 }

No upstream is called. Exit codes: 0 all expectations hold; 1 some do not; 2 there are none, or the table is not valid.`,
)
