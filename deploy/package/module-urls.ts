import { existsSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import type { Plugin } from 'rolldown'
import { type ESTree, parseSync, Visitor } from 'rolldown/utils'
import { ROOT } from './paths.ts'

/** In the bundle's code, for as long as the chunk is unknown: a path in the package, relative to the chunk, and an absolute one. */
const RELATIVE = /"package:([^"]*)"/g
const ABSOLUTE = /"package-path:([^"]*)"/g

/** What the bundle consists of, by paths from the root. */
export interface Named {
  /** Modules at their own paths. */
  readonly entries: Set<string>
  /** What modules name by URL and is not a module. */
  readonly files: Set<string>
}

/**
 * Keeps the URLs that modules of the gateway derive from `import.meta.url`: in a bundle that is the URL of a chunk. A module that is
 * named so, or names itself so, is loaded by its URL, such as by a thread: it becomes an entry of the bundle, at its own path. Fails
 * where a module is not there.
 */
export function keepModuleUrls({ entries, files }: Named): Plugin {
  return {
    name: 'keep-module-urls',
    transform: {
      filter: { id: /\.ts$/, code: 'import.meta.url' },
      handler(code, id, { magicString }) {
        const module = relative(ROOT, id)
        if (!/^(?:core|plugins)\//.test(module)) return undefined
        for (const { start, end, literal } of urlsIn(code, id)) {
          const path = literal === undefined ? module : posix.join(posix.dirname(module), literal)
          if (path.endsWith('.ts')) {
            if (!existsSync(join(ROOT, path))) this.error(`${module} names ${path}, which does not exist`)
            if (!entries.has(path)) this.emitFile({ type: 'chunk', id: join(ROOT, path), fileName: builtPath(path) })
            entries.add(path)
          } else files.add(path)
          const built = `"package:${builtPath(path)}"`
          magicString!.overwrite(start, end, literal === undefined ? `new URL(${built}, import.meta.url).href` : built)
        }
        return { code: magicString! }
      },
    },
    renderChunk(code, { fileName }, _, { magicString }) {
      if (!code.includes('"package:') && !code.includes('"package-path:')) return undefined
      const folder = posix.dirname(fileName)
      for (const {
        0: { length },
        1: path = '',
        index,
      } of code.matchAll(RELATIVE)) {
        const slash = path.endsWith('/') ? '/' : ''
        magicString!.overwrite(index, index + length, JSON.stringify(posix.relative(folder, path) + slash))
      }
      for (const {
        0: { length },
        1: path = '',
        index,
      } of code.matchAll(ABSOLUTE)) {
        magicString!.overwrite(
          index,
          index + length,
          `import.meta.dirname + ${JSON.stringify(`/${posix.relative(folder, path)}`)}`,
        )
      }
      return { code: magicString! }
    },
  }
}

/** Where a module lies in the package. */
export const builtPath = (source: string): string => source.replace(/\.ts$/, '.js')

/** A place in the code: the text of a relative URL, or without `literal` an `import.meta.url`. */
interface Place {
  readonly start: number
  readonly end: number
  readonly literal?: string
}

/** The relative URLs that are resolved by `import.meta.url`, and where it stands alone. */
function urlsIn(code: string, file: string): readonly Place[] {
  const places: Place[] = []
  const resolving = new Set<ESTree.Node>()
  new Visitor({
    NewExpression({ callee, arguments: [url, base] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'URL' || base === undefined || !isModuleUrl(base)) return
      resolving.add(base)
      if (url?.type !== 'Literal' || typeof url.value !== 'string')
        throw new Error(`${file}: write new URL('…', import.meta.url) with the path as it is, so that the build finds its file`)
      places.push({ start: url.start, end: url.end, literal: url.value })
    },
    MemberExpression(node) {
      if (isModuleUrl(node) && !resolving.has(node)) places.push({ start: node.start, end: node.end })
    },
  }).visit(parseSync(file, code).program)
  return places
}

const isModuleUrl = (node: ESTree.Node): boolean =>
  node.type === 'MemberExpression' &&
  node.object.type === 'MetaProperty' &&
  node.property.type === 'Identifier' &&
  node.property.name === 'url'
