/**
 * `npm run mutations`: changes the source of each built-in provider, one place at a time, and runs its conformance suite, which must fail.
 * Only code that makes requests is changed. Prints each change as killed or survived. `--only` names providers, `--seed` chooses other changes, `--count` more of them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdtempDisposableSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Mutation, mutationsOf } from './mutations.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What the suite runs on. */
const SOURCES = ['core', 'plugins', 'test', 'package.json']

/** The built-in providers, except for the sandbox, which sends no requests. */
const PROVIDERS = ['anthropic', 'azure-openai', 'bedrock', 'cohere', 'gemini', 'ollama', 'openai-compatible', 'vertex'] as const

/** Files that only read replies, get tokens, or are rows for configurations that the suite does not have: other tests are about them. */
const NOT_ABOUT_REQUESTS =
  /^(?:reply|image-reply|replies|stream|frames|refusal|errors|citations|json-object|tool-calls|credentials|presets)\.ts$/

/** How many of a provider's mutations may survive. */
const SURVIVORS = 1

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PROVIDERS.join(',') },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
  },
})

/** A mutation and its file, from the project's root. */
interface Mutant extends Mutation {
  readonly file: string
}

function mutantsOf(provider: string): readonly Mutant[] {
  const files = globSync(`plugins/providers/${provider}/**/*.ts`, { cwd: ROOT }).filter(
    (file) => !NOT_ABOUT_REQUESTS.test(basename(file)),
  )
  const all = files
    .sort()
    .flatMap((file) => mutationsOf(file, readFileSync(join(ROOT, file), 'utf8')).map((one) => ({ ...one, file })))
  return shuffled(all, Number(values.seed)).slice(0, Number(values.count))
}

/** The list in an order that a seed decides: by a linear congruential generator (Numerical Recipes). */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed
  const keyed = items.map((item) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return [state, item] as const
  })
  return keyed.sort(([one], [other]) => one - other).map(([, item]) => item)
}

/** Whether a provider's conformance suites pass in a copy of the sources. */
async function passes(copy: string, provider: string): Promise<boolean> {
  const suites = globSync(`test/plugins/providers/${provider}/*conformance.test.ts`, { cwd: copy })
  const mocha = join(copy, 'node_modules/mocha/bin/mocha.js')
  const child = spawn(process.execPath, [mocha, '--bail', '--reporter', 'min', ...suites], { cwd: copy, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  return code === 0
}

async function main(): Promise<void> {
  using copy = mkdtempDisposableSync(join(tmpdir(), 'umg-mutations-'))
  for (const source of SOURCES) cpSync(join(ROOT, source), join(copy.path, source), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy.path, 'node_modules'))

  for (const provider of values.only.split(',')) {
    if (!(await passes(copy.path, provider))) throw new Error(`the conformance suite of ${provider} fails without a mutation`)
    const mutants = mutantsOf(provider)
    let survived = 0
    for (const { file, line, what, source } of mutants) {
      writeFileSync(join(copy.path, file), source)
      const survives = await passes(copy.path, provider)
      cpSync(join(ROOT, file), join(copy.path, file))
      if (survives) survived += 1
      process.stdout.write(`${survives ? 'survived' : 'killed  '}  ${relative('plugins/providers', file)}:${line} ${what}\n`)
    }
    if (survived > SURVIVORS) process.exitCode = 1
    process.stdout.write(`${provider}: ${mutants.length - survived} of ${mutants.length} killed\n`)
  }
}

await main()
