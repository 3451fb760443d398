import { expect } from 'chai'
import { StoreError } from '../../../core/store/unavailable.ts'

/** Why a store could not be opened. */
export async function refusal(opening: Promise<unknown>): Promise<Error> {
  const outcome = await opening.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(outcome).to.be.instanceOf(StoreError)
  return outcome as Error
}
