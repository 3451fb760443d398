/// <reference types="mocha" />
import assert from 'node:assert/strict'

/** Defines a case that needs the official SDK, an optional peer dependency of the kit: skipped if the package is not installed. */
export function itWithSdk(title: string, run: () => Promise<void>): void {
  if (HAS_SDK) it(title, run)
  else it.skip(`${title} (skipped: npm install --save-dev openai)`)
}

const HAS_SDK = isInstalled('openai')

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== ''
  } catch {
    return false
  }
}

/** An error as the SDK throws it. */
export interface SdkError {
  readonly status: number | undefined
  readonly code: string | null | undefined
  readonly type: string | undefined
  readonly param: string | null | undefined
  readonly message: string
  readonly headers: Headers | undefined
}

/** Returns what the SDK throws for a call, or while its stream is read to the end. Throws an `AssertionError` if it throws nothing. */
export async function caught(calling: PromiseLike<unknown>): Promise<SdkError> {
  try {
    const reply = await calling
    if (typeof reply === 'object' && reply !== null && Symbol.asyncIterator in reply) {
      for await (const _ of reply as AsyncIterable<unknown>);
    }
  } catch (error) {
    return error as SdkError
  }
  assert.fail('the SDK treats the reply as a success')
}
