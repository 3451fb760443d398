import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { ROOT } from '../../deploy/package/paths.ts'

const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).sort()

/** The anchors of a page's headings, as GitHub makes them: the second of one name ends with -1. */
function anchorsOf(path: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading] of withoutCode(path).matchAll(/^#+ (.*)$/gm)) {
    const name = heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let anchor = name
    for (let count = 1; anchors.has(anchor); count++) anchor = `${name}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

const withoutCode = (path: string): string => readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '')

describe('the links of the docs', () => {
  for (const page of PAGES) {
    it(`lead somewhere: ${page}`, () => {
      const links = Array.from(withoutCode(join(ROOT, page)).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link!)
      const broken = links
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [path = '', anchor] = link.split('#')
          const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path)
          if (!existsSync(target)) return true
          return anchor !== undefined && statSync(target).isFile() && !anchorsOf(target).has(anchor)
        })
      expect(broken).to.deep.equal([])
    })
  }
})
