import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An npm package whose code is in the bundle. */
interface Bundled {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly notices: readonly string[]
}

/**
 * The text that names all npm packages among the bundled modules, each with its licence. Fails for a package without one: then it
 * must not be published.
 */
export function thirdPartyNotices(modules: Iterable<string>): string {
  const packages = new Map<string, Bundled>()
  for (const folder of new Set([...modules].flatMap((module) => folderOf(module) ?? []))) {
    const bundled = read(folder)
    packages.set(`${bundled.name} ${bundled.version}`, bundled)
  }
  const sections = [...packages]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([title, { license, notices }]) => {
      const heading = `${title} (${license})`
      return [`${heading}\n${'-'.repeat(heading.length)}`, ...notices].join('\n\n')
    })
  return `The Unified Model Gateway contains code of these packages.\n\n${sections.join('\n\n\n')}\n`
}

/** The folder of the npm package that a module belongs to. */
function folderOf(module: string): string | undefined {
  const [, folder] = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module) ?? []
  return folder
}

function read(folder: string): Bundled {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (typeof license !== 'string') throw new Error(`${name} ${version} names no licence in its package.json`)
  const files = readdirSync(folder).sort()
  const texts = files.filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file)).map((file) => textOf(join(folder, file)))
  const [readme] = files.filter((file) => /^readme/i.test(file))
  return {
    name,
    version,
    license,
    notices: texts.length > 0 || readme === undefined ? texts : licenseIn(textOf(join(folder, readme))),
  }
}

/** What a README says of the licence, from its heading on. */
function licenseIn(readme: string): readonly string[] {
  const [, text] = /^(?:#+ *licen[cs]e.*|licen[cs]e\n[=-]{3,})$([\s\S]*)/im.exec(readme) ?? []
  return text === undefined ? [] : [text.trim()]
}

const textOf = (file: string): string => readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim()
