import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A template that nobody edits, unlike the routes.yaml of a checkout, which has the same text in Git. */
const ROUTES = new URL('../../../deploy/routes.yaml', import.meta.url)
const SCHEMA = new URL('../../../docs/routes.schema.json', import.meta.url)

/** The line by which editors find the schema. */
const SCHEMA_LINE = /^# yaml-language-server: \$schema=.*\n#\n/

/**
 * Writes a routing table with comments to a file, unless there is one. It serves the sandbox, and each vendor whose API key is in the
 * environment. Returns whether it was written.
 */
export function writeStarterRoutes(file: string): boolean {
  try {
    writeFileSync(file, starterRoutes(dirname(resolve(file))), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** How a link of one's own stands in the table that comes with the gateway. */
const OWN_LINK = /^ {2}# A link of your own is a file in this folder:\n(?: {2}#.*\n)+/m

/**
 * The routing table that comes with the gateway, for a folder; `link` is the path of a chain plugin in it. The table names its schema
 * if the gateway is installed in the folder.
 */
export function starterRoutes(folder: string, { link }: { readonly link?: string } = {}): string {
  const text = readFileSync(ROUTES, 'utf8')
  const schema = relative(folder, fileURLToPath(SCHEMA)).replaceAll('\\', '/')
  const line = schema.startsWith('..') ? '' : `# yaml-language-server: $schema=./${schema}\n#\n`
  const table = text.replace(SCHEMA_LINE, () => line)
  return link === undefined ? table : table.replace(OWN_LINK, () => `  # A link of this project.\n  - plugin: ${link}\n`)
}
