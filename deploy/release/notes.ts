/**
 * Prints the section of CHANGELOG.md of a tag: `node deploy/release/notes.ts v0.2.0`. Fails if the tag is not the version of package.json, or
 * if the version has no section: then it is not ready to be released.
 */
import { readFileSync } from 'node:fs'

/** The section of a version, without its heading. Throws if there is none, or an empty one. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.split(/[\s,]/, 1)[0] === version)
  const notes = section?.slice(section.indexOf('\n')).trim()
  if (!notes) throw new Error(`CHANGELOG.md has no section "## ${version}": rename "## Unreleased" to it`)
  return notes
}

/** The version of a tag. Throws if it is not the one of package.json. */
export function versionOf(tag: string, manifest: string): string {
  const { version } = JSON.parse(manifest) as { readonly version: string }
  if (tag !== `v${version}`) throw new Error(`the tag ${tag} is not the version of package.json, v${version}`)
  return version
}

if (import.meta.main) {
  const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
  process.stdout.write(`${notesOf(read('CHANGELOG.md'), versionOf(process.argv[2] ?? '', read('package.json')))}\n`)
}
