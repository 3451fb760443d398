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

  const prices = umg.command('prices').description('show and update the list prices of vendors')
  prices
    .command('list')
    .description('list the prices of the models that a routing table names, and where two lists differ')
    .argument('[file]', 'the routing table', defaultFile)
    .option('--all', 'list all models of the vendors whose list prices apply')
    .addOption(jsonOption())
    .addHelpText('after', PRICES_LIST_EXAMPLES)
    .action(async (file: string, options) => {
      const { listPrices } = await import('./prices.ts')
      await end(await listPrices(file, options, io))
    })
  prices
    .command('update')
    .description('read the newest list prices, check them, and keep them for the gateway')
    .argument('[file]', 'the routing table', defaultFile)
    .option('--accept-changes', 'keep a list although a price in it has changed by more than a factor of ten')
    .addOption(jsonOption())
    .addHelpText('after', PRICES_UPDATE_EXAMPLES)
    .action(async (file: string, options) => {
      const { updatePrices } = await import('./prices.ts')
      await end(await updatePrices(file, options, io))
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

const PRICES_LIST_EXAMPLES = examples(
  ['umg prices list', 'umg prices list staging.yaml --all', 'umg prices list --json'],
  'US dollars per million tokens. Exit codes: 0; 1 the routing table is not valid.',
)

const PRICES_UPDATE_EXAMPLES = examples(
  ['umg prices update', 'umg prices update staging.yaml', 'umg prices update --accept-changes'],
  `Running gateways take the new prices by themselves. A list that is broken, older, or has changed absurdly is refused, and the last good one
stays. In the routing table:
  prices:
    lists: { every: 24h }       # the gateway updates them itself
Exit codes: 0 all lists are new or unchanged; 1 one was refused, or not read; 2 the routing table is not valid.`,
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
