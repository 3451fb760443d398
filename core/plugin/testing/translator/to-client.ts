import { GatewayError } from '../../../errors.ts'
import { refusalError } from '../../../upstream/failure.ts'
import { UpstreamError } from '../../api.ts'

/** What a client is told of an error in a reply, as at the end of an attempt. Rethrows what is no fault of the upstream. */
export function toClient(error: unknown): GatewayError {
  if (error instanceof UpstreamError)
    return refusalError(error.refusal, { asked: 'test/model', passedThrough: undefined, hidden: [] })
  if (error instanceof GatewayError) return error
  throw error
}
