#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const USAGE = `Creates a plugin for the Unified Model Gateway in a new folder.

  npm create umg-plugin provider NAME    a provider, for one kind of upstream
  npm create umg-plugin chain NAME       a chain plugin, for every call

NAME is its name in logs and in routes.yaml, such as acme: the package is then umg-provider-acme or umg-plugin-acme.
`

/** The prefixes by which the gateway finds a package under its short name. */
const PREFIXES = { provider: 'umg-provider-', chain: 'umg-plugin-' }

const TEMPLATES = fileURLToPath(new URL('templates/', import.meta.url))

/** The gateway's repository, if this file is in a checkout of it. */
const ROOT = resolve(fileURLToPath(new URL('../..', import.meta.url)))

process.exitCode = await run(process.argv.slice(2))

/** Returns the exit code. */
async function run([kind, name, ...others]) {
  if (!Object.hasOwn(PREFIXES, kind ?? '') || name === undefined || others.length > 0) return refuse(USAGE)
  if (!/^[a-z][a-z\d-]*$/.test(name)) return refuse(`"${name}" is not a valid name: use lower-case letters, digits and dashes.\n`)
  // NAME may be the name of the package.
  const short = name.replace(PREFIXES[kind], '')
  const names = { name: short, package: PREFIXES[kind] + short }
  const folder = resolve(names.package)
  try {
    await mkdir(folder)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return refuse(`${folder} already exists: choose another name, or remove the folder.\n`)
  }
  const checkout = await isCheckout()
  await write(kind, folder, names)
  if (checkout) await dependOnCheckout(folder)
  const from = checkout ? ` It uses the gateway in ${ROOT}.` : ''
  process.stdout.write(
    `${names.package} is in ${folder}.${from} Continue with\n\n  cd ${names.package}\n  npm install\n  npm test\n`,
  )
  return 0
}

function refuse(message) {
  process.stderr.write(message)
  return 1
}

/** Copies the templates and inserts the names. Removes the folder if it fails. */
async function write(kind, folder, names) {
  try {
    for (const template of ['both', kind]) await cp(join(TEMPLATES, template), folder, { recursive: true })
    // npm does not publish a file named .gitignore.
    await rename(join(folder, 'gitignore'), join(folder, '.gitignore'))
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    for (const file of entries.filter((entry) => entry.isFile())) {
      const path = join(file.parentPath, file.name)
      const text = await readFile(path, 'utf8')
      await writeFile(path, named(text, names))
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** Replaces the placeholders; environment variables have capital letters. */
function named(text, { name, package: packageName }) {
  const variable = name.toUpperCase().replaceAll('-', '_')
  return text.replaceAll('__name__', name).replaceAll('__package__', packageName).replaceAll('__NAME__', variable)
}

/** Whether this file is in a checkout of the gateway, and not installed by npm. */
async function isCheckout() {
  try {
    return JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).name === 'unified-model-gateway'
  } catch {
    return false
  }
}

/** Makes the plugin depend on the gateway in the checkout, and on its Node: npm installs no dependencies of a checkout. */
async function dependOnCheckout(folder) {
  const path = join(folder, 'package.json')
  const manifest = JSON.parse(await readFile(path, 'utf8'))
  manifest.devDependencies['unified-model-gateway'] = `file:${ROOT}`
  const { optionalDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  for (const runtime of Object.keys(optionalDependencies)) {
    const installed = join(ROOT, 'node_modules', runtime)
    if (existsSync(installed)) manifest.devDependencies[runtime] = `file:${installed}`
  }
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`)
}
