/** The fields of a message by number: their name, and how they are read. A field whose kind is in an array may occur several times. */
export interface MessageFields {
  readonly [number: number]: readonly [name: string, kind: FieldKind | readonly [FieldKind]]
}

/** How a field is read. `uint`: a varint; `hex`: bytes as hexadecimal digits; the packed kinds: a list of numbers. */
export type FieldKind =
  | 'uint'
  | 'text'
  | 'hex'
  | 'fixed64'
  | 'double'
  | 'fixed32'
  | 'fixed64s'
  | 'doubles'
  | (() => MessageFields)

/** A decoded message. */
export type Message = Readonly<Record<string, unknown>>

/** Decodes a message in Protocol Buffers' wire format: https://protobuf.dev/programming-guides/encoding/. Throws for an unknown field. */
export function decodeMessage(bytes: Buffer, fields: MessageFields): Message {
  const message: Record<string, unknown> = {}
  const reader = new Reader(bytes)
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint())
    const [name, kinds] = fields[tag >> 3] ?? []
    if (name === undefined || kinds === undefined) throw new Error(`unknown field ${tag >> 3} in ${JSON.stringify(message)}`)
    const [kind, repeated] = Array.isArray(kinds) ? [kinds[0] as FieldKind, true] : [kinds as FieldKind, false]
    const value = valueOfField(reader.field(tag & 7), kind)
    message[name] = repeated ? [...((message[name] as unknown[] | undefined) ?? []), value] : value
  }
  return message
}

function valueOfField(raw: bigint | Buffer, kind: FieldKind): unknown {
  if (typeof raw === 'bigint') return Number(BigInt.asIntN(64, raw))
  if (typeof kind === 'function') return decodeMessage(raw, kind())
  if (kind === 'text') return raw.toString('utf8')
  if (kind === 'hex') return raw.toString('hex')
  if (kind === 'fixed64') return raw.readBigUInt64LE()
  if (kind === 'fixed32') return raw.readUInt32LE()
  if (kind === 'double') return raw.readDoubleLE()
  const parts = Array.from({ length: raw.length / 8 }, (_, index) => raw.subarray(8 * index, 8 * index + 8))
  return parts.map((part) => (kind === 'doubles' ? part.readDoubleLE() : Number(part.readBigUInt64LE())))
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  varint(): bigint {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = this.#bytes.readUInt8(this.#at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  /** A field of this wire type. */
  field(type: number): bigint | Buffer {
    if (type === 0) return this.varint()
    const length = type === 1 ? 8 : type === 5 ? 4 : type === 2 ? Number(this.varint()) : undefined
    if (length === undefined) throw new Error(`unknown wire type ${type}`)
    this.#at += length
    if (this.#at > this.#bytes.length) throw new Error('a field ends after its message')
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}
