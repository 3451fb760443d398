import type { EndpointName } from '../sdk/api.ts'
import { type CallContext, ClientCall, checked, refusal } from './call.ts'
import type { ScannedObject } from './json.ts'

/** The bytes of a large body, and their scan. */
export interface ScannedBody {
  readonly bytes: Buffer
  readonly scanned: ScannedObject
}

/** Scans large bodies off the event loop. */
export interface BodyScanner {
  /** Takes the bytes over, and returns them without a copy. `endpoint`: of a request; undefined for a reply. Throws `ScanError`. */
  scan(bytes: Buffer, endpoint?: EndpointName): Promise<ScannedBody>
}

/**
 * The call with a large body, which `scanner` takes over: scanning many megabytes would block the event loop. Throws a GatewayError (400)
 * if the body is invalid.
 */
export async function largeCall(bytes: Buffer, context: CallContext, scanner: BodyScanner): Promise<ClientCall> {
  try {
    const body = await scanner.scan(bytes, context.endpoint)
    return new ClientCall(body.bytes, context, checked(body.scanned))
  } catch (error) {
    throw refusal(error)
  }
}
