import assert from 'node:assert/strict'

/** An error as the SDK throws it. */
export interface SdkError {
  readonly status: number | undefined
  readonly code: string | null | undefined
  readonly type: string | undefined
  readonly param: string | null | undefined
  readonly message: string
  readonly headers: Headers | undefined
}

/** What the SDK throws for a call, or for reading it to its end where it is a stream. Throws an `AssertionError` where it does not. */
export async function caught(calling: PromiseLike<unknown>): Promise<SdkError> {
  try {
    const reply = await calling
    if (typeof reply === 'object' && reply !== null && Symbol.asyncIterator in reply) {
      for await (const _ of reply as AsyncIterable<unknown>);
    }
  } catch (error) {
    return error as SdkError
  }
  assert.fail('the SDK takes the reply for a success')
}
