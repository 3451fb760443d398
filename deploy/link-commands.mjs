// Links the commands of package.json into node_modules/.bin, where npm puts those of an installed package but not those of a checkout.
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const folder = join(root, 'node_modules/.bin')
const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

// Windows runs no links to scripts: `npx umg` works there.
if (process.platform !== 'win32') {
  mkdirSync(folder, { recursive: true })
  for (const [name, path] of Object.entries(bin)) {
    const link = join(folder, name)
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) rmSync(link)
    symlinkSync(relative(folder, join(root, path)), link)
  }
}
