import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { ROOT } from '../../deploy/package/paths.ts'
import { readText } from '../support/sources.ts'

const PAGE = readText('docs/architecture.md')
const DRAWINGS = Array.from(PAGE.matchAll(/^```\n([\s\S]*?)^```/gm), ([, drawing]) => drawing!)
const TEXT = PAGE.replace(/^```[\s\S]*?^```/gm, '')

/** A file of the project, as the page names it. Capitals stand for a name of the reader's own. */
const FILE = /(?:core|plugins|console|test|docs|deploy)\/[\w./-]+\.(?:tsx?|mjs|md|yaml)\b/g
const TO_BE_MADE = /NAME|NNNN|SUBJECT|FAMILY/

/** Whether a file has a name: `function`, `#member`, or both of `Class.member`. */
const has = (file: string, name: string): boolean =>
  name.split('.').every((word) => new RegExp(`(?<!\\w)${word}(?!\\w)`).test(readText(file)))

/** Each name that the page says is in a file. */
function placesOf(text: string): readonly (readonly [name: string, file: string])[] {
  const places: [string, string][] = []
  for (const [, names, files] of text.matchAll(NAMES_IN_FILES))
    for (const [, file] of files!.matchAll(/`([^`]+)`/g))
      for (const [, name] of names!.matchAll(/`([^`]+)`/g)) places.push([name!, file!])
  return places
}

/** "`a`, `b` and `c` in `core/x.ts` and in `core/y.ts`" */
const NAMES_IN_FILES =
  /((?:`#?[A-Za-z_][\w.]*`(?:, | and )?)+) in ((?:`(?:core|plugins|console)\/[\w./-]+\.tsx?`(?:,? and (?:in )?)?)+)/g

describe('docs/architecture.md', () => {
  it('names only files that exist', () => {
    const files = Array.from(PAGE.matchAll(FILE), ([file]) => file).filter((file) => !TO_BE_MADE.test(file))
    expect(files.length).to.be.greaterThan(100)
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).to.deep.equal([])
  })

  it('names files without a folder only if one of that name exists', () => {
    const known = new Set(
      globSync('{core,plugins,console/src,deploy,test,docs}/**/*.{ts,tsx,yaml,md}', { cwd: ROOT }).map(baseOf),
    )
    const files = Array.from(PAGE.matchAll(/(?<![\w/.-])[a-z][\w-]*\.tsx?\b/g), ([file]) => file)
    expect(files.length).to.be.greaterThan(20)
    expect(files.filter((file) => !known.has(file))).to.deep.equal([])
  })

  it('says of each name in which file it is', () => {
    const places = placesOf(TEXT)
    expect(places.length).to.be.greaterThan(60)
    expect(places.filter(([name, file]) => !has(file, name)).map((place) => place.join(' in '))).to.deep.equal([])
  })

  it('draws a call and a reload by functions that the files have', () => {
    const lines = DRAWINGS.flatMap((drawing) => drawing.split('\n'))
    const drawn = lines.flatMap((line) => {
      const [, file, names] =
        /^\s*((?:core|plugins)\/[\w./-]+\.ts) {2,}((?:[A-Za-z]\w*(?:\.\w+)?(?:, )?)+)(?=:|$| {2,})/.exec(line) ?? []
      return file === undefined ? [] : names!.split(', ').map((name) => [name, file] as const)
    })
    expect(drawn.length).to.be.greaterThan(25)
    const wrong = drawn.filter(([name, file]) => /[A-Z]/.test(name) && !has(file, name))
    expect(wrong.map((place) => place.join(' in '))).to.deep.equal([])
  })
})

const baseOf = (path: string): string => path.slice(dirname(path).length + 1)
