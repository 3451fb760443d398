import type { Output } from '../output.ts'
import type { ExplainedLink, Explanation } from './explain-calls.ts'
import type { ExplainedModel } from './explain-route.ts'
import type { Quote } from './routes-text.ts'
import { formatFailing, formatShare, formatWay } from './simulator.ts'

/** A line of text, and the line of routes.yaml that it refers to. */
type Line = readonly [text: string, at?: string]

/** Prints an explanation for people: the text on the left, the lines of routes.yaml on the right. */
export function printExplanation(explanation: Explanation, output: Output): void {
  const lines = linesOf(explanation)
  const width = Math.max(...lines.filter(([, at]) => at !== undefined).map(([text]) => text.length)) + 2
  for (const [text, at] of lines) output.write(`${at === undefined ? text : `${text.padEnd(width)}${at}`}\n`)
}

function linesOf({ asked, alias, model, refused, key, chain, failing, ways }: Explanation): readonly Line[] {
  return [
    ...(alias ? [[`${asked} is an alias of ${alias.of}`, alias.at] as const] : []),
    ...(model ? modelLines(model) : [[`${asked} is refused: ${refused}`] as const]),
    [''],
    [`chain, for ${key ? `the ${key.kind} key ${key.id} (${key.name})` : 'a live key that names no class'}`],
    ...chain.flatMap(linkLines),
    ...(ways && failing
      ? [
          [''] as const,
          [`where ${formatFailing(Object.entries(failing))}`] as const,
          ...ways.map((way) => [formatWay(way)] as const),
        ]
      : []),
  ]
}

const INDENT = '  '

function modelLines({ id, at, ...model }: ExplainedModel): readonly Line[] {
  return [[`${id}${formatProvider(model)}`, at], ...memberLines(model, INDENT), ...settingLines(model, INDENT)]
}

const settingLines = ({ limits, rules = [] }: Pick<ExplainedModel, 'limits' | 'rules'>, indent: string): readonly Line[] =>
  [...(limits ? [limits] : []), ...rules].map((setting) => quoteLine(setting, indent))

/** The targets and fallbacks of a curated model, each with a label, and their own below them. */
function memberLines({ targets = [], fallbacks = [] }: Partial<ExplainedModel>, indent: string): readonly Line[] {
  const lines = (label: string, { id, at, ...member }: ExplainedModel): readonly Line[] => {
    const inner = `${indent}${' '.repeat(label.length)}${INDENT}`
    return [
      [`${indent}${label}${INDENT}${id}${formatProvider(member)}`, at],
      ...memberLines(member, inner),
      ...settingLines(member, inner),
    ]
  }
  return [
    ...targets.flatMap((target) => lines(target.share === undefined ? '  any' : formatShare(target.share), target)),
    ...fallbacks.flatMap((fallback) => lines(' then', fallback)),
  ]
}

function formatProvider({ leftOut, provider, credentials, sticky }: Partial<ExplainedModel>): string {
  if (leftOut !== undefined) return ` (left out: ${leftOut})`
  if (provider === undefined) return ''
  if (credentials === undefined) return ` (${provider})`
  const chosen = sticky === 'none' ? 'by turns' : `by ${sticky}, else by turns,`
  return ` (${provider}, ${chosen} with ${credentials.join(', ')})`
}

const quoteLine = ({ says, at = 'by default' }: Quote, indent: string): Line => [`${indent}${says}`, at]

function linkLines({ plugin, at, excluded, onlyWith, limits, refuses }: ExplainedLink): readonly Line[] {
  const only = onlyWith === undefined ? '' : ` (only with the ${onlyWith.join(' and ')} of its "when")`
  const note =
    excluded === undefined ? only + (refuses === undefined ? '' : `: refuses the key: ${refuses}`) : ` (not for this ${excluded})`
  return [[`  ${plugin}${note}`, at], ...limits.map((limit) => quoteLine(limit, '    '))]
}
