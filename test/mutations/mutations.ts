import { parseSync } from 'vite'

/** A change of a source that a test should notice. */
export interface Mutation {
  readonly line: number
  /** What it does: `removes "model: body.model"`. */
  readonly what: string
  /** The whole source with it. */
  readonly source: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** Functions whose arguments are not part of a request: they make docs, and the schema of a configuration. */
const DECLARATIONS = new Set(['mapped', 'refused', 'secret', 'factsOption', 'Type'])

/** The opposite of each comparison. */
const OPPOSITES: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
}

/** Lists the mutations of a TypeScript source, in its order. Types and declarations stay as they are. */
export function mutationsOf(path: string, source: string): readonly Mutation[] {
  const found: Mutation[] = []

  function change(node: Node, text: string, what: string): void {
    const line = source.slice(0, node.start).split('\n').length
    found.push({ line, what, source: source.slice(0, node.start) + text + source.slice(node.end) })
  }

  /** The node's source, on one short line. */
  function quoted({ start, end }: Node): string {
    const text = source.slice(start, end).replaceAll(/\s+/g, ' ')
    return text.length > 60 ? `${text.slice(0, 60)}…` : text
  }

  /** With the comma after it. */
  function remove(node: Node): void {
    const comma = /^\s*,/.exec(source.slice(node.end))?.[0].length ?? 0
    change({ ...node, end: node.end + comma }, '', `removes ${quoted(node)}`)
  }

  function mutate(node: Node): void {
    const { type, value, test, left, operator, elements } = node as Node & Readonly<Record<string, unknown>>
    const negate = (part: unknown) =>
      change(part as Node, `!(${source.slice((part as Node).start, (part as Node).end)})`, `negates ${quoted(part as Node)}`)
    if (type === 'Property' || type === 'SpreadElement' || type === 'ExpressionStatement') remove(node)
    else if (type === 'IfStatement' || type === 'ConditionalExpression') negate(test)
    else if (type === 'LogicalExpression' && operator === '&&') negate(left)
    else if (type === 'LogicalExpression')
      change(node, source.slice((left as Node).start, (left as Node).end), `takes only the left of ${quoted(node)}`)
    else if (type === 'BinaryExpression' && typeof operator === 'string' && Object.hasOwn(OPPOSITES, operator)) {
      const { right } = node as Node & { readonly right: Node }
      const [before, after] = [source.slice((left as Node).start, (left as Node).end), source.slice(right.start, right.end)]
      change(node, `${before} ${OPPOSITES[operator]} ${after}`, `turns ${quoted(node)} round`)
    } else if (type === 'ArrayExpression') {
      for (const element of elements as readonly (Node | null)[])
        if (element !== null && element.type !== 'SpreadElement') remove(element)
    } else if (type === 'Literal' && typeof value === 'number')
      change(node, String(value === 0 ? 1 : value * 4), `changes ${quoted(node)}`)
    else if (type === 'Literal' && typeof value === 'boolean') change(node, String(!value), `changes ${quoted(node)}`)
    else if (type === 'Literal' && typeof value === 'string' && !value.includes(' '))
      change(node, JSON.stringify(`${value}x`), `changes ${quoted(node)}`)
    else if (type === 'TemplateElement' && node.end > node.start)
      change({ ...node, start: node.end }, 'x', `appends to ${quoted(node)}`)
  }

  function walk(node: Node): void {
    if (isLeftAlone(node)) return
    mutate(node)
    for (const [name, child] of Object.entries(node)) {
      if (name === 'key' && (node as Node & { readonly computed?: boolean }).computed !== true) continue
      for (const one of Array.isArray(child) ? child : [child]) if (isNode(one)) walk(one)
    }
  }

  for (const statement of parseSync(path, source).program.body) walk(statement as Node)
  return found
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string'
}

/** The expressions that a type only annotates. */
const ANNOTATED = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])

function isLeftAlone(node: Node): boolean {
  if (node.type.startsWith('TS')) return !ANNOTATED.has(node.type)
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return true
  const { callee } = node as Node & { readonly callee?: Callee }
  return node.type === 'CallExpression' && DECLARATIONS.has(callee?.name ?? callee?.object?.name ?? '')
}

/** The name of a called function, or of the object that has it. */
interface Callee {
  readonly name?: string
  readonly object?: { readonly name?: string }
}
