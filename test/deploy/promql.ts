/** A metric in an expression of PromQL, and the labels that its selector compares. */
export interface Selector {
  readonly metric: string
  readonly labels: readonly string[]
}

const NAME = /\b(?:(?:umg|gen_ai|process|nodejs)_\w+|umg:[\w:]+|up)\b(?:\{([^}]*)\})?/g

/** The selectors of an expression. Names of labels that it groups by are no metrics. */
export function selectorsOf(expression: string): readonly Selector[] {
  const ungrouped = expression.replace(/\b(?:by|without|on|ignoring|group_left|group_right) ?\([^)]*\)/g, '')
  return Array.from(ungrouped.matchAll(NAME), ([text, matchers = '']) => ({
    metric: text.replace(/\{.*/, ''),
    labels: Array.from(matchers.matchAll(/(\w+) ?(?:=~|!~|!=|=)/g), ([, label]) => label!),
  }))
}
