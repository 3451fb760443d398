/** The first byte of an unmasked text message in one frame (RFC 6455 §5.2). */
const TEXT = '\x81'
/** Lengths that are written in two and in eight bytes more begin so. */
const TWO_BYTES = '\x7e'
const EIGHT_BYTES = '\x7f'

/**
 * A text message of a server, in one frame. `payload`: the bytes of its text, as latin1, and so is the result: a stream's messages are joined and written as
 * one string, as its server-sent events would be.
 */
export function textMessage(payload: string): string {
  const { length } = payload
  if (length < 126) return TEXT + String.fromCharCode(length) + payload
  if (length < 1 << 16) return TEXT + TWO_BYTES + bytesOf(length, 2) + payload
  return TEXT + EIGHT_BYTES + bytesOf(length, 8) + payload
}

/** A number in network byte order, as latin1. */
function bytesOf(number: number, size: number): string {
  let bytes = ''
  for (let rest = number; bytes.length < size; rest = Math.floor(rest / 256)) bytes = String.fromCharCode(rest % 256) + bytes
  return bytes
}
