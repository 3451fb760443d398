import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Peer } from './peers.ts'
import { isInstalled } from './prerequisites.ts'
import type { Command, Processes } from './processes.ts'

/** Kept between runs, outside the sources. */
const CACHE = fileURLToPath(new URL('../.cache/bench-peers/', import.meta.url))

/** How long packages may take to be installed: LiteLLM is 700 MB. */
export const INSTALL_MS = 15 * 60_000

/** Its last line is written when all packages are there. */
const MARK = 'installed.txt'

/** Installs a program's packages unless these versions are there; resolves to their folder. Throws where it cannot be had. */
export async function install(
  { name, source, program }: Pick<Peer, 'name' | 'source' | 'program'>,
  processes: Processes,
): Promise<string> {
  const folder = join(CACHE, name)
  if (source.registry === 'none') {
    if (!isInstalled(program)) throw new Error(`there is no ${program} on the PATH: put one there to measure it`)
    return folder
  }
  const wanted = source.packages.join('\n')
  const mark = join(folder, MARK)
  if ((await readFile(mark, 'utf8').catch(() => '')) === wanted) return folder

  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const command of COMMANDS[source.registry](folder, source.packages)) {
    await processes.run({ name: `installing ${name}`, limitMs: INSTALL_MS, ...command })
  }
  await writeFile(mark, wanted)
  return folder
}

type Step = Pick<Command, 'program' | 'args'>

/** No package runs code of its own while it is installed. */
const COMMANDS: Readonly<Record<'pypi' | 'npm', (folder: string, packages: readonly string[]) => readonly Step[]>> = {
  pypi: (folder, packages) => [
    { program: 'python3', args: ['-m', 'venv', folder] },
    {
      program: join(folder, 'bin/pip'),
      args: ['install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:', ...packages],
    },
  ],
  npm: (folder, packages) => [
    {
      program: 'npm',
      args: ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error', ...packages],
    },
  ],
}
