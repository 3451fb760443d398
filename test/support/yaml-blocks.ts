import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { routesSchema } from '../../core/config/schema/routes-yaml.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGES = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })]

/** Fields of a routing table: what has other fields is another file's. */
const FIELDS = Object.keys((routesSchema as { readonly properties?: object }).properties!)

/** An example in YAML. */
export interface YamlBlock {
  /** `docs/routes.md` */
  readonly page: string
  readonly line: number
  readonly text: string
}

/** The examples of README.md and of docs/. */
export const YAML_BLOCKS: readonly YamlBlock[] = PAGES.flatMap((page) => {
  const markdown = readFileSync(`${ROOT}${page}`, 'utf8')
  return [...markdown.matchAll(/^```ya?ml\n([\s\S]+?)^```/gm)].map(({ index, 1: text = '' }) => ({
    page,
    line: markdown.slice(0, index).split('\n').length,
    text,
  }))
})

/** A line of YAML in a comment: a key whose value is a word, a list or a map, or an entry of a list. What several spaces part from it is prose. */
const EXAMPLE = /^( *)# ( *(?:(?:- )?[\w/.*-]+:(?: [\w./]+| [[{].*[\]}])?|- \{.*\}))(?: {2,}\S.*)?$/

/** The shipped routes.yaml with all examples in its comments. */
export const UNCOMMENTED: YamlBlock = {
  page: 'routes.yaml',
  line: 1,
  text: readFileSync(`${ROOT}routes.yaml`, 'utf8').replaceAll(new RegExp(EXAMPLE, 'gm'), '$1$2'),
}

/** What a reader would make of an example: the whole table that it is a part of. Undefined where it is another file's. */
export function tableOf({ page, text }: YamlBlock): string | undefined {
  const data = parse(text) as Record<string, unknown>
  const fields = Object.keys(data)
  if (fields.join() === 'config')
    return stringify({ version: 1, namespaces: { example: { provider: basename(page, '.md'), ...data } } })
  if (!fields.every((field) => FIELDS.includes(field))) return undefined
  const missing = Object.entries({ version: '1', namespaces: '{}' }).filter(([field]) => !fields.includes(field))
  return `${text}${missing.map(([field, value]) => `${field}: ${value}\n`).join('')}`
}
