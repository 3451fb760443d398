import { readFileSync } from 'node:fs'
import { parseSync } from 'vite'

const ROOT = new URL('../../', import.meta.url)

/** Something that a module exports. */
export interface Declaration {
  readonly name: string
  /** Its doc comment, without stars. */
  readonly doc: string
  /** Its source, without bodies, and without what is private. */
  readonly code: string
  /** The text of the line that sets it and what follows apart, such as `// ── Host ────`; absent: there is none before it. */
  readonly part: string | undefined
}

/** One exported statement of a module. */
export type Statement =
  | ({ readonly kind: 'declaration' } & Declaration)
  /** `names`: those that are passed on; absent: all. `as`: one object that has them all. */
  | { readonly kind: 'reexport'; readonly from: string; readonly names?: readonly string[]; readonly as?: string }

type Program = ReturnType<typeof parseSync>['program']
type Node = Program['body'][number]
type Exported = NonNullable<Extract<Node, { type: 'ExportNamedDeclaration' }>['declaration']>
type Class = Extract<Exported, { type: 'ClassDeclaration' | 'ClassExpression' }>
type Variable = Extract<Exported, { type: 'VariableDeclaration' }>

const PART = /^\/\/ ── (.+?) ─+$/gm

/** Reads what a module exports, in the order in which it stands. `path`: from the project's root. */
export function readStatements(path: string): readonly Statement[] {
  const text = readFileSync(new URL(path, ROOT), 'utf8')
  const { program } = parseSync(path, text)
  return program.body.flatMap((node): Statement[] => {
    if (node.type === 'ExportAllDeclaration') {
      const { exported, source } = node
      return [{ kind: 'reexport', from: source.value, ...(exported?.type === 'Identifier' && { as: exported.name }) }]
    }
    if (node.type !== 'ExportNamedDeclaration') return []
    const { source, specifiers, declaration } = node
    if (source !== null)
      return [{ kind: 'reexport', from: source.value, names: specifiers.map(({ exported }) => nameOf(exported)) }]
    if (declaration === null) return []
    const part = [...text.slice(0, node.start).matchAll(PART)].at(-1)?.[1]
    return [{ kind: 'declaration', doc: docOf(text, node.start), part, ...new Reader(text).declaration(declaration) }]
  })
}

/** Takes from a source what its reader needs to know of a declaration. */
class Reader {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  declaration(node: Exported): Pick<Declaration, 'name' | 'code'> {
    switch (node.type) {
      case 'TSInterfaceDeclaration':
      case 'TSTypeAliasDeclaration':
        return { name: node.id.name, code: this.#slice(node.start, node.end) }
      case 'FunctionDeclaration':
      case 'TSDeclareFunction':
        return { name: node.id!.name, code: this.#slice(node.start, node.body?.start ?? node.end) }
      case 'ClassDeclaration':
        return { name: node.id!.name, code: this.#class(node) }
      case 'VariableDeclaration':
        return this.#variable(node)
      default:
        throw new Error(`docs/generate/declarations.ts does not know what a ${node.type} looks like`)
    }
  }

  #class(node: Class): string {
    const members = node.body.body.flatMap((member) => {
      if (!('key' in member) || member.key.type === 'PrivateIdentifier' || member.computed) return []
      const code =
        member.type === 'MethodDefinition'
          ? this.#slice(member.start, member.value.body?.start ?? member.end)
          : this.#slice(member.start, ('typeAnnotation' in member && member.typeAnnotation?.end) || member.end)
      return [this.#comment(member.start) + code]
    })
    return `${this.#slice(node.start, node.body.start)} {\n${members.map((member) => `  ${member}`).join('\n')}\n}`
  }

  #variable({ declarations, start, end }: Variable): Pick<Declaration, 'name' | 'code'> {
    const { id, init } = declarations[0]!
    const name = nameOf(id)
    if (init?.type !== 'ArrowFunctionExpression') return { name, code: this.#slice(start, end) }
    return { name, code: `function ${name}${this.#slice(init.start, init.body.start).replace(/\s*=>\s*$/, '')}` }
  }

  /** The doc comment before a member, as it stands. */
  #comment(start: number): string {
    const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(this.#text.slice(0, start))?.[0]
    return comment === undefined ? '' : `${comment.trim()}\n  `
  }

  #slice(start: number, end: number): string {
    return this.#text.slice(start, end).trim()
  }
}

const nameOf = (node: { readonly type: string }): string => ('name' in node ? String(node.name) : '')

/** The doc comment before a statement, without stars. */
function docOf(text: string, start: number): string {
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, start))?.[1] ?? ''
  return comment
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim()
}
