import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The gateway's package, or its checkout. */
const PACKAGE = dirname(fileURLToPath(new URL('../../../package.json', import.meta.url)))

/** The address of a package of a registry ends so: `https://registry.npmjs.org/pino/-/pino-10.4.0.tgz`. */
const OF_REGISTRY = /^https?:.*\/-\/[^/]+\.tgz$/

/**
 * What the package.json of a project must say to get the gateway that runs from where it came: a range of versions only if npm had it
 * from a registry, else its tarball, or its folder. The name of a package that is on no registry is free for anyone to take.
 */
export function dependencyOf(project: string, version: string): string {
  const resolved = installedFrom()
  if (resolved === undefined) return fileOf(project, PACKAGE)
  if (OF_REGISTRY.test(resolved)) return `^${version}`
  if (!resolved.startsWith('file:')) return resolved
  const tarball = resolve(PACKAGE, '../..', resolved.slice('file:'.length))
  return fileOf(project, existsSync(tarball) ? tarball : PACKAGE)
}

/** From where npm installed the package, as its hidden lockfile says; undefined for a checkout, and for other package managers. */
function installedFrom(): string | undefined {
  const modules = dirname(PACKAGE)
  const lockfile = join(modules, '.package-lock.json')
  if (basename(modules) !== 'node_modules' || !existsSync(lockfile)) return undefined
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>
  }
  return packages?.[`node_modules/${basename(PACKAGE)}`]?.resolved
}

const fileOf = (project: string, path: string): string => `file:${relative(project, path).replaceAll('\\', '/')}`
