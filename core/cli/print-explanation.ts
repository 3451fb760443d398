import type { ExplainedLink, Explanation } from './explain.ts'
import type { ExplainedModel, Saying } from './explain-model.ts'
import type { Output } from './io.ts'
import type { Way } from './simulate.ts'

/** A line of text, and the line of the table that it comes from. */
type Line = readonly [text: string, at?: string]

/** Prints an explanation for people: what is said on the left, where the table says it on the right. */
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
    ...(ways && failing ? [[''] as const, [`where ${listOf(failing)}`] as const, ...ways.map(wayLine)] : []),
  ]
}

function modelLines({ id, at, rules = [], ...model }: ExplainedModel): readonly Line[] {
  return [[`${id}${whoServes(model)}`, at], ...memberLines(model, INDENT), ...rules.map((rule) => sayingLine(rule, INDENT))]
}

/** What a curated model leads to: a label, and behind it the model, and under that what it leads to in turn. */
function memberLines({ targets = [], fallbacks = [] }: Partial<ExplainedModel>, indent: string): readonly Line[] {
  const lines = (label: string, { id, at, rules = [], ...member }: ExplainedModel): readonly Line[] => {
    const inner = `${indent}${' '.repeat(label.length)}${INDENT}`
    return [
      [`${indent}${label}${INDENT}${id}${whoServes(member)}`, at],
      ...memberLines(member, inner),
      ...rules.map((rule) => sayingLine(rule, inner)),
    ]
  }
  return [
    ...targets.flatMap((target) => lines(target.share === undefined ? '  any' : percent(target.share), target)),
    ...fallbacks.flatMap((fallback) => lines(' then', fallback)),
  ]
}

const INDENT = '  '

function whoServes({ leftOut, provider }: Pick<ExplainedModel, 'leftOut' | 'provider'>): string {
  if (leftOut !== undefined) return ` (left out: ${leftOut})`
  return provider === undefined ? '' : ` (${provider})`
}

const sayingLine = ({ says, at = 'by default' }: Saying, indent: string): Line => [`${indent}${says}`, at]

function linkLines({ plugin, at, sees, limits, refuses }: ExplainedLink): readonly Line[] {
  const note = sees ? (refuses === undefined ? '' : `: refuses the key: ${refuses}`) : ' (not for this namespace)'
  return [[`  ${plugin}${note}`, at], ...limits.map((limit) => sayingLine(limit, '    '))]
}

const listOf = (failing: Readonly<Record<string, string>>): string =>
  Object.entries(failing)
    .map(([name, cause]) => `${name} fails (${cause})`)
    .join(' and ')

/** `  80 %  openai/gpt-5.5 (429) → claude/claude-sonnet-5` */
export function wayLine({ share, tries, end }: Way): Line {
  const steps = tries.map(({ id, cause }) => (cause === undefined ? id : `${id} (${cause})`))
  return [`  ${percent(share)}  ${(end.includes('/') ? steps : [...steps, end]).join(' → ')}`]
}

/** ` 80 %`, three digits wide so that columns stand. */
export const percent = (share: number): string =>
  `${(share > 0 && share < 0.005 ? '<1' : String(Math.round(share * 100))).padStart(3)} %`
