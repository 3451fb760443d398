import { randomUUID } from 'node:crypto'
import type { Upload } from '../sdk/api.ts'

/** A file of a form, kept on disk until its call is settled. */
export interface FormFile {
  readonly filename: string
  /** Its content type. */
  readonly type: string
  /** In bytes. */
  readonly size: number
  read(): AsyncIterable<Uint8Array>
}

/** A part of a form. */
export interface FormPart {
  readonly name: string
  readonly value: string | FormFile
}

/** The boundary of a form: no file contains it, except by chance. */
export const newBoundary = (): string => `umg-${randomUUID()}`

/**
 * Writes a form as `multipart/form-data` (RFC 7578; names as the HTML standard writes them). It is written again, not passed on in the client's
 * bytes, so that an upstream can read nothing in it that the gateway has not read: docs/decisions/uploads.md.
 */
export function writeForm(parts: readonly FormPart[], boundary: string): Upload {
  const heads = parts.map(({ name, value }) => Buffer.from(`--${boundary}\r\n${headersOf(name, value)}\r\n\r\n`))
  const end = Buffer.from(`--${boundary}--\r\n`)
  const sizes = parts.map(({ value }, index) => heads[index]!.length + sizeOf(value) + LINE.length)
  return {
    length: sizes.reduce((sum, size) => sum + size, end.length),
    async *read() {
      for (const [index, { value }] of parts.entries()) {
        yield heads[index]!
        if (typeof value === 'string') yield Buffer.from(value)
        else yield* value.read()
        yield LINE
      }
      yield end
    },
  }
}

const LINE = Buffer.from('\r\n')

const sizeOf = (value: FormPart['value']): number => (typeof value === 'string' ? Buffer.byteLength(value) : value.size)

function headersOf(name: string, value: FormPart['value']): string {
  const disposition = `content-disposition: form-data; name="${quoted(name)}"`
  if (typeof value === 'string') return disposition
  return `${disposition}; filename="${quoted(value.filename)}"\r\ncontent-type: ${value.type}`
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '%0A', '\r': '%0D', '"': '%22' }

const quoted = (text: string): string => text.replace(/[\n\r"]/g, (character) => ESCAPES[character]!)
