import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Programs, and the Debian packages that have them. */
const PACKAGES = {
  gcc: 'gcc',
  make: 'make',
  nginx: 'nginx',
  taskset: 'util-linux',
  'redis-server': 'redis-server',
  git: 'git',
  tar: 'tar',
} as const
/** A program that a run may need. */
export type Tool = keyof typeof PACKAGES

/** What every run needs. */
const EVERY_RUN: readonly Tool[] = ['gcc', 'make', 'taskset']

/** Says in one sentence what this machine lacks for a run that also needs `more`; undefined where it lacks nothing. */
export function missingPrerequisite(more: readonly Tool[]): string | undefined {
  if (process.platform !== 'linux') return 'The benchmark reads /proc and needs Linux: run it there, or in a container.'
  if (!isReadable('/proc/self/schedstat'))
    return 'This kernel does not count processor time per thread: run one with CONFIG_SCHED_INFO.'
  const missing = [...EVERY_RUN, ...more].filter((tool) => !isInstalled(tool))
  if (missing.length === 0) return undefined
  return `The benchmark needs ${missing.join(', ')}: install with "apt-get install -y ${missing.map((tool) => PACKAGES[tool]).join(' ')}" and run it again.`
}

/** Debian keeps nginx where only root's PATH looks. */
export const SEARCH_PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`

/** Whether a program is on the search path. */
export function isInstalled(tool: string): boolean {
  return SEARCH_PATH.split(':').some((directory) => isAccessible(join(directory, tool), constants.X_OK))
}

function isReadable(file: string): boolean {
  return isAccessible(file, constants.R_OK)
}

function isAccessible(file: string, mode: number): boolean {
  try {
    accessSync(file, mode)
    return true
  } catch {
    return false
  }
}
