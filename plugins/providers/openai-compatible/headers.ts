const FRAMING = 'the gateway sets it'
const HOP_BY_HOP = 'it concerns a single connection (RFC 9110 §7.6.1)'

/** Headers that a configuration cannot set, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  authorization: 'set apiKey instead',
  'content-type': FRAMING,
  'content-length': FRAMING,
  'content-encoding': FRAMING,
  'accept-encoding': FRAMING,
  host: FRAMING,
  expect: FRAMING,
  'x-request-id': FRAMING,
  connection: HOP_BY_HOP,
  'keep-alive': HOP_BY_HOP,
  'proxy-authenticate': HOP_BY_HOP,
  'proxy-authorization': HOP_BY_HOP,
  'proxy-connection': HOP_BY_HOP,
  te: HOP_BY_HOP,
  trailer: HOP_BY_HOP,
  'transfer-encoding': HOP_BY_HOP,
  upgrade: HOP_BY_HOP,
}

/** Checks the configured headers and gives them lower-case names. Throws an Error that says what to mend, without any value. */
export function checkHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const checked = new Map<string, string>()
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new Error(`headers: '${given}' is not a header name`)
    if (Object.hasOwn(REFUSED, name)) throw new Error(`headers: '${given}' cannot be set: ${REFUSED[name]}`)
    if (checked.has(name)) throw new Error(`headers: '${given}' stands there twice; case does not matter in names`)
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new Error(`headers: the value of '${given}' has a character that no header can hold, such as a line break`)
    }
    checked.set(name, value)
  }
  return Object.fromEntries(checked)
}
