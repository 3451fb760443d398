import { mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { INSTALL_MS } from './install-peer.ts'
import type { Place } from './place.ts'

/** The folder of the checkout that runs the benchmark. */
export const THIS_CHECKOUT = fileURLToPath(new URL('..', import.meta.url))

/** A version of the gateway that can be started. */
export interface Checkout {
  /** The short id of its commit; with `-dirty` if files differ from it. */
  readonly version: string
  readonly folder: string
}

/** The working tree, as it is. */
export async function thisCheckout({ processes }: Pick<Place, 'processes'>): Promise<Checkout> {
  const args = ['-C', THIS_CHECKOUT, 'describe', '--always', '--dirty', '--exclude=*']
  const version = await processes.run({ name: 'git describe', program: 'git', args })
  return { version: version.trim(), folder: THIS_CHECKOUT }
}

/**
 * Writes the files of a commit into the scratch folder, with its dependencies: those of this checkout if both lock the same ones, else
 * installed from the registry without running code of the packages. An archive and not a worktree: nothing is left in the repository,
 * even if the benchmark is killed. Throws if there is no such commit, or npm fails.
 */
export async function checkOut(
  commit: string,
  { processes, scratch }: Pick<Place, 'processes' | 'scratch'>,
  repository: string = THIS_CHECKOUT,
): Promise<Checkout> {
  const git = (...args: readonly string[]) =>
    processes.run({ name: `git ${args[0]}`, program: 'git', args: ['-C', repository, ...args] })
  const found = await git('rev-parse', '--verify', '--quiet', '--short', `${commit}^{commit}`).catch(() => {
    processes.stopping.throwIfAborted()
    throw new Error(`there is no commit "${commit}" in this repository`)
  })
  const version = found.trim()
  const folder = join(scratch, `checkout-${version}`)
  const archive = `${folder}.tar`
  await mkdir(folder)
  await git('archive', '--format=tar', `--output=${archive}`, version)
  await processes.run({ name: 'tar', program: 'tar', args: ['-xf', archive, '-C', folder] })
  await rm(archive)
  if (await locksTheSame(folder, repository)) await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  else {
    const args = ['ci', '--prefix', folder, '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error']
    await processes.run({ name: `npm ci of ${version}`, program: 'npm', args, limitMs: INSTALL_MS })
  }
  return { version, folder }
}

async function locksTheSame(...folders: readonly [string, string]): Promise<boolean> {
  const [one, other] = await Promise.all(folders.map((folder) => readFile(join(folder, 'package-lock.json'))))
  return one!.equals(other!)
}
