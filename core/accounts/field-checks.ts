import { GatewayError } from '../errors.ts'
import { formatBudget, parseBudgets } from '../text/budgets.ts'

/** Characters. */
const MAX_TEXT = 100

const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u

/**
 * Throws `invalid_value` for a name that is blank, too long, or has control characters, which could forge a log line, move a cursor, or
 * show a text in another order, or invisible ones, by which two names look alike.
 */
export function checkText(param: string, text: string): void {
  if (text.trim() !== '' && [...text].length <= MAX_TEXT && !UNFIT.test(text)) return
  const detail = `it must have 1 to ${MAX_TEXT} characters, and no control characters or invisible ones; choose another one`
  throw new GatewayError('invalid_value', { param, values: { detail } })
}

/** Throws `invalid_value` for an empty list, and for a glob that can match no model id. */
export function checkGlobs(param: string, globs: readonly string[]): void {
  if (globs.length === 0) throw invalid(param, 'at least one glob is required; "*" matches all models')
  for (const glob of globs) {
    const reachable = (glob.includes('/') || glob.includes('*')) && /^[^\s\p{C}]{1,256}$/u.test(glob)
    if (!reachable)
      throw invalid(
        param,
        `${JSON.stringify(glob)} matches no model; write globs of whole model ids: "openai/*", "acme/smart", or "*" for all`,
      )
  }
}

const invalid = (param: string, detail: string): GatewayError => new GatewayError('invalid_value', { param, values: { detail } })

/** The texts of budgets as they are stored. Throws `invalid_value` if one is not a budget, or two are of the same unit. */
export function checkBudgets(texts: readonly string[]): readonly string[] {
  try {
    return parseBudgets(texts).map(formatBudget)
  } catch (error) {
    throw invalid('budgets', (error as Error).message)
  }
}
