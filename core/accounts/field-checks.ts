import { GatewayError } from '../errors.ts'

/** Characters. */
const MAX_TEXT = 100

/** Throws `invalid_value` for a name that is blank, too long, or has control characters, which could forge a log line or move a cursor. */
export function checkText(param: string, text: string): void {
  const invalid = text.trim() === '' || [...text].length > MAX_TEXT || /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)
  if (!invalid) return
  const detail = `it must have 1 to ${MAX_TEXT} characters and no control characters; choose another one`
  throw new GatewayError('invalid_value', { param, values: { detail } })
}

/** Throws `invalid_value` for an empty list, and for a glob that can match no model id. */
export function checkGlobs(param: string, globs: readonly string[]): void {
  if (globs.length === 0) throw invalidGlobs(param, 'at least one glob is required; "*" matches all models')
  for (const glob of globs) {
    const reachable = (glob.includes('/') || glob.includes('*')) && /^[^\s\p{C}]{1,256}$/u.test(glob)
    if (!reachable)
      throw invalidGlobs(
        param,
        `${JSON.stringify(glob)} matches no model; write globs of whole model ids: "openai/*", "acme/smart", or "*" for all`,
      )
  }
}

const invalidGlobs = (param: string, detail: string): GatewayError =>
  new GatewayError('invalid_value', { param, values: { detail } })
