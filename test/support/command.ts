import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

/** The command `umg` of the sources. */
export const SOURCES = join(PROJECT, 'core/umg.mjs')

/** Names the command to the processes of a run. A run whose environment has it starts that one. */
export const COMMAND_VARIABLE = 'UMG_TEST_COMMAND'

/** The command `umg` that tests start: the bundled one in a run of many files, else that of the sources. */
export const command = (): string => process.env[COMMAND_VARIABLE] ?? SOURCES

let folder: string | undefined

/**
 * Bundles the command for this run and its processes, as the npm package has it: a run starts it hundreds of times, and it starts with
 * half the CPU time of the sources.
 */
export async function bundleCommand(): Promise<void> {
  if (process.env[COMMAND_VARIABLE] !== undefined) return
  // Imported here: a run of one file does not build.
  const { buildCommand } = await import('../../deploy/package/command.ts')
  folder = await mkdtemp(join(tmpdir(), 'umg-command-'))
  await buildCommand(folder)
  await mkdir(join(folder, 'console'))
  await symlink(join(PROJECT, 'console/dist'), join(folder, 'console/dist'))
  // The Node of the project, and the packages of tests.
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  process.env[COMMAND_VARIABLE] = join(folder, 'core/umg.mjs')
}

/** Removes what `bundleCommand` has built. */
export async function removeCommand(): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
}
