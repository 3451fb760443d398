import { expect } from 'chai'
import OpenAI from 'openai'

/** The SDK's error for a call. Fails the test if the call succeeds. */
export async function caught(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const ending = await call.then(
    () => 'the call succeeded',
    (error: unknown) => error,
  )
  expect(ending).to.be.instanceOf(OpenAI.APIError)
  return ending as InstanceType<typeof OpenAI.APIError>
}
