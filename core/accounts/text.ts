import { GatewayError } from '../errors.ts'

const MAX_TEXT = 100

/** Throws `invalid_value` for a name that could spoil a log line or a terminal: too long, blank, or with characters that move the cursor. */
export function checkText(param: string, text: string): void {
  const bad = text.trim() === '' || [...text].length > MAX_TEXT || /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)
  if (!bad) return
  const detail = `it must have 1 to ${MAX_TEXT} characters and no control characters; choose another one`
  throw new GatewayError('invalid_value', { param, values: { detail } })
}

/** Throws `invalid_value` for what is no glob of model ids. */
export function checkGlobs(param: string, globs: readonly string[]): void {
  if (globs.length === 0) throw badGlob(param, 'without a glob nothing could be called; give "*" for all models')
  for (const glob of globs) {
    const reachable = (glob.includes('/') || glob.includes('*')) && /^[^\s\p{C}]{1,256}$/u.test(glob)
    if (!reachable)
      throw badGlob(
        param,
        `${JSON.stringify(glob)} matches no model; write globs of whole model ids: "openai/*", "acme/smart", or "*" for all`,
      )
  }
}

const badGlob = (param: string, detail: string): GatewayError => new GatewayError('invalid_value', { param, values: { detail } })
