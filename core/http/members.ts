import { GatewayError } from '../errors.ts'
import { type Member, ScanError, type ScanFault, scanObject } from '../json/scan.ts'
import type { Workers } from '../workers/pool.ts'

const SCAN_FAULTS: Readonly<Record<Exclude<ScanFault, 'syntax' | 'not_an_object'>, string>> = {
  too_deep: 'The request body is nested more than 64 levels deep.',
  too_many_members: 'The request body has more than 256 members at its top level.',
  too_many_parts: 'The request body has more than 50,000 objects and arrays in it.',
}

/** The top-level members of a body. Throws a GatewayError (400) for a body that is no object, or not an acceptable one. */
export function membersOf(bytes: Buffer): readonly Member[] {
  try {
    return checked(scanObject(bytes))
  } catch (error) {
    throw refusal(error)
  }
}

/** The same, found in a worker thread: looking through many megabytes would hold up the event loop. */
export async function membersOfLarge(bytes: Buffer, workers: Pick<Workers, 'scan'>): Promise<readonly Member[]> {
  try {
    checkBeginning(bytes)
    return checked(await workers.scan(bytes))
  } catch (error) {
    throw refusal(error)
  }
}

/** So many bytes tell a bomb from a body: a bomb need not be copied to a thread to be refused. */
const BEGINNING = 64 * 1024

function checkBeginning(bytes: Buffer): void {
  try {
    scanObject(bytes.subarray(0, BEGINNING))
  } catch (error) {
    // A beginning is no whole object: that alone is no fault.
    if (!(error instanceof ScanError) || error.fault !== 'syntax') throw error
  }
}

function checked(members: readonly Member[]): readonly Member[] {
  // Parsers disagree on which of two counts, so that authorisation and upstream could read different models.
  const twice = members.find(({ key }, index) => members.findIndex((other) => other.key === key) < index)
  if (twice !== undefined) throw new GatewayError('duplicate_parameter', { param: twice.key.slice(0, 100) })
  const folded = members.find(({ key }) => !FIELDS.has(key) && FOLDED.test(key))
  if (folded !== undefined) throw misspelled(folded.key)
  return members
}

/** What routing, authorisation and limits read of a body. */
const FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'input',
  'instructions',
  'tools',
  'functions',
  'response_format',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'user',
])

/** Go's encoding/json, for one, ignores case as Unicode does: to such an upstream `Model` is `model`, and so are `ſ` `s`, `K` `k`. */
const FOLDED = new RegExp(`^(?:${[...FIELDS].join('|')})$`, 'iu')

function misspelled(key: string): GatewayError {
  // `ſ` has an upper case alone, the Kelvin sign a lower case.
  return new GatewayError('misspelled_parameter', { param: key, values: { field: key.toUpperCase().toLowerCase() } })
}

function refusal(error: unknown): unknown {
  if (!(error instanceof ScanError)) return error
  const detail = error.fault === 'syntax' || error.fault === 'not_an_object' ? undefined : SCAN_FAULTS[error.fault]
  return detail === undefined ? new GatewayError('invalid_json') : new GatewayError('invalid_body', { values: { detail } })
}
