import { atRate, p99 } from './at-rate.ts'
import { bodyOf, type Client } from './client.ts'

const PER_SECOND = 200
const SECONDS = 5

/** Milliseconds in which all calls to a model but one in a hundred are served, at a constant rate. Throws if one is not served. */
export async function p99OfCalls(client: Client, model: string): Promise<number> {
  const answers = await atRate(PER_SECOND, PER_SECOND * SECONDS, () => client.call(bodyOf({ model })))
  const failed = answers.find(({ status }) => status !== 200)
  if (failed !== undefined) throw new Error(`a call to ${model} was answered ${failed.status}: ${failed.body}`)
  return p99(answers)
}

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
