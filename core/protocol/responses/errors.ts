import type { GatewayError } from '../../errors.ts'
import { type ClientWire, OPENAI_WIRE } from '../client-protocol.ts'
import { NAMES } from './names.ts'
import { frameOf } from './wire.ts'

/** What clients of the Responses API get from the gateway itself. */
export const RESPONSES_WIRE: ClientWire = {
  error: (error) => ({ error: inOwnNames(error) }),
  errorFrame(error, last) {
    const { code, message, param, type } = inOwnNames(error)
    // The schema has the members of the event alone, OpenAI's servers send `error`, by which the SDKs throw.
    return frameOf({
      type: 'error',
      sequence_number: numberAfter(last),
      code,
      message,
      param,
      error: { type, code, message, param },
    })
  },
  heartbeat: OPENAI_WIRE.heartbeat,
}

/** The error with the client's name of the parameter. */
function inOwnNames(error: GatewayError) {
  const { error: own } = error.toJSON()
  const { param } = own
  if (param === null || !Object.hasOwn(NAMES, param)) return own
  const name = NAMES[param]!
  return { ...own, param: name, message: own.message.replaceAll(`'${param}'`, `'${name}'`) }
}

/** Quotes inside a text are escaped: only an event's own number matches. */
const NUMBER = /"sequence_number"\s*:\s*(\d+)/g

/** The number of the event after these. */
function numberAfter(events: string): number {
  const last = [...events.matchAll(NUMBER)].at(-1)?.[1]
  return last === undefined ? 0 : Number(last) + 1
}
