import { expect } from 'chai'
import { ONCE_MORE, ONLY_ELSEWHERE, RETRY_CAUSES } from '../../../core/config/schema/retry-causes.ts'
import { policyFor } from '../../../core/dispatch/retry.ts'
import { ERRORS, type ErrorName } from '../../../core/error-table.ts'
import { GatewayError } from '../../../core/errors.ts'

/** What each cause leads to, by the errors that have it. */
const verdicts = (Object.keys(ERRORS) as ErrorName[]).map((row) => policyFor(new GatewayError(row)))
const againAfter = (cause: string) => verdicts.filter((verdict) => verdict.cause === cause).map(({ again }) => again)

describe('the causes that retry.on names', () => {
  for (const cause of RETRY_CAUSES) {
    it(`are the same in the check of routes.yaml and in a call: ${cause}`, () => {
      const again = againAfter(cause)
      expect(again).not.to.deep.equal([])
      expect(again.every((each) => each === undefined)).to.equal(ONLY_ELSEWHERE.has(cause))
      expect(again.every((each) => each === 'immediately')).to.equal(ONCE_MORE.has(cause))
    })
  }
})
