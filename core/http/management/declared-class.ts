import { GatewayError } from '../../errors.ts'
import { didYouMean } from '../../suggest.ts'
import type { ManagementParts } from './parts.ts'

type Class = string | null | undefined

/**
 * Throws `invalid_value` for a new rate class that the routing table in use does not declare: calls would be refused. Where it
 * declares none, some plugin may know them without saying so. What a key or an account has already, it keeps.
 */
export function checkDeclared(asked: Class, current: Class, parts: ManagementParts): void {
  const declared = parts.current().config.rateClasses
  if (asked == null || asked === current || declared.length === 0 || declared.includes(asked)) return
  const detail = `there is no such rate class${didYouMean(asked, declared) || '.'} routes.yaml declares ${declared.join(', ')}`
  throw new GatewayError('invalid_value', { param: 'rate_class', values: { detail } })
}
