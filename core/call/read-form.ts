import type { IncomingMessage, ServerResponse } from 'node:http'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { SerialQueue } from '../async/serial-queue.ts'
import { GatewayError } from '../errors.ts'
import type { Memory } from '../protocol/call.ts'
import type { FormFile, FormPart } from '../protocol/form.ts'
import { type BodyLimits, checkEncoding, checkOpen, lengthOf, tooLarge, unsupportedType } from './read-body.ts'
import { UploadFile } from './uploads.ts'

/** The limits of a form. */
export interface FormLimits extends BodyLimits {
  /** Counts the texts. */
  readonly memory: Memory
  /** Counts the form before it is read, if its length is known; else its pieces. */
  readonly disk: Memory
  /** The folder of uploaded files. */
  readonly folder: string
}

/** A form that has been read. Its files are readable until `close`. */
export interface Form {
  readonly parts: readonly FormPart[]
  close(): void
}

/** The most parts of a form, and the most bytes of the name of one, of a text and of the headers of a part. */
const MOST = { parts: 256, fieldSize: 1 << 20, headerPairs: 32, headerSize: 16 << 10 }

const FORM = /^multipart\/form-data\s*;/i

/** Whether a request has a form. */
export const hasForm = ({ headers }: IncomingMessage): boolean => FORM.test(headers['content-type'] ?? '')

/**
 * Reads a form: texts into memory, files to the disk, no faster than the disk writes. Throws GatewayErrors: 415, 413 or 400, what `memory`
 * and `disk` throw, 503 if the disk is full, or 408 if the request is incomplete because it timed out or the client aborted it.
 */
export async function readForm(request: IncomingMessage, response: ServerResponse, limits: FormLimits): Promise<Form> {
  if (!hasForm(request)) throw unsupportedType(request, 'multipart/form-data')
  checkEncoding(request)
  checkOpen(request)
  const length = lengthOf(request)
  if (length !== undefined) {
    if (length > limits.max) throw tooLarge(limits.max)
    limits.disk.take(length)
  }
  if (request.headers.expect !== undefined) response.writeContinue()
  const reading = new FormReading(limits, length === undefined)
  try {
    await reading.read(request)
    return reading
  } catch (error) {
    reading.close()
    throw error
  }
}

/** A form that is being read. */
class FormReading implements Form {
  readonly parts: FormPart[] = []
  readonly #limits: FormLimits
  readonly #isCounted: boolean
  readonly #over = Promise.withResolvers<void>()
  #size = 0
  #file: Promise<UploadFile> | undefined
  readonly #streams: BusboyFileStream[] = []
  /** A file may begin before the one before it is written. */
  readonly #writes = new SerialQueue()
  readonly #written: Promise<void>[] = []

  constructor(limits: FormLimits, isCounted: boolean) {
    this.#limits = limits
    this.#isCounted = isCounted
  }

  async read(request: IncomingMessage): Promise<void> {
    const parser = this.#parserOf(request)
    const onData = (bytes: Buffer): void => {
      try {
        this.#count(bytes.length)
        if (!parser.write(bytes)) request.pause()
      } catch (error) {
        this.#over.reject(error)
      }
    }
    const onDrain = () => request.resume()
    const onEnd = () => parser.end()
    const onError = () => this.#over.reject(new GatewayError('request_timeout'))
    parser.on('drain', onDrain)
    request.on('data', onData).on('end', onEnd).on('error', onError)
    try {
      await this.#over.promise
      await Promise.all(this.#written)
    } finally {
      // The request lives as long as its connection.
      request.off('data', onData).off('end', onEnd).off('error', onError)
      parser.off('drain', onDrain)
    }
  }

  close(): void {
    // Those of a form that breaks off have no end.
    for (const stream of this.#streams) stream.destroy()
    const file = this.#file
    if (file === undefined) return
    void this.#writes.ended().then(() => file.then((each) => each.close()).catch(() => undefined))
  }

  #count(bytes: number): void {
    const { max, disk } = this.#limits
    this.#size += bytes
    if (this.#size > max) throw tooLarge(max)
    if (this.#isCounted) disk.take(bytes)
  }

  #parserOf({ headers }: IncomingMessage): BusboyInstance {
    let parser: BusboyInstance
    try {
      const isPartAFile = (_name: string | undefined, _type: string | undefined, filename: string | undefined) =>
        filename !== undefined
      parser = new Busboy({ headers: headers as { 'content-type': string }, isPartAFile, limits: MOST })
    } catch {
      throw invalid('its content type has no boundary')
    }
    parser.on('field', (name, value, _, isCut, encoding) => this.#try(() => this.#addText(name, value, isCut, encoding)))
    parser.on('file', (name, stream, filename, encoding, type) => {
      // Without a listener an incomplete file would end the process.
      stream.on('error', () => undefined)
      this.#try(() => this.#addFile(name, { stream, filename, encoding, type }))
    })
    parser.on('partsLimit', () => this.#over.reject(invalid(`it has more than ${MOST.parts} parts`)))
    parser.on('error', () => this.#over.reject(invalid('it is incomplete')))
    parser.on('finish', () => this.#over.resolve())
    return parser
  }

  #try(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#over.reject(error)
    }
  }

  #addText(name: string | undefined, value: string, isCut: boolean, encoding: string): void {
    checkPart(name, encoding)
    if (isCut) throw invalid(`a text of it has more than ${MOST.fieldSize} bytes`)
    this.#limits.memory.take(Buffer.byteLength(value))
    this.parts.push({ name, value })
  }

  #addFile(name: string | undefined, { stream, filename, encoding, type }: IncomingFile): void {
    checkPart(name, encoding)
    const file = { filename, type: TYPE.test(type) ? type : 'application/octet-stream', size: 0, read: EMPTY }
    this.parts.push({ name, value: file })
    this.#streams.push(stream)
    const written = this.#writes.run(() => this.#write(stream, file))
    written.catch((error: unknown) => this.#over.reject(error))
    this.#written.push(written)
  }

  async #write(stream: BusboyFileStream, into: { size: number; read: FormFile['read'] }): Promise<void> {
    this.#file ??= UploadFile.create(this.#limits.folder)
    const file = await this.#file
    const from = file.size
    for await (const bytes of stream) await file.append(bytes)
    const size = file.size - from
    into.size = size
    into.read = () => file.read(from, size)
  }
}

interface IncomingFile {
  readonly stream: BusboyFileStream
  readonly filename: string
  readonly encoding: string
  readonly type: string
}

const TYPE = /^[\w.+-]+\/[\w.+-]+$/

const EMPTY: FormFile['read'] = async function* empty() {}

function checkPart(name: string | undefined, encoding: string): asserts name is string {
  if (name === undefined || name === '') throw invalid('a part of it has no name')
  // Upstreams disagree on whether it escapes a quote, which ends the name. Of a file name, busboy keeps what follows the last one.
  if (name.includes('\\')) throw invalid('the name of a part of it has a backslash')
  // Deprecated by RFC 7578 §4.7: upstreams disagree on whether they decode it.
  if (!/^(?:7bit|8bit|binary)$/.test(encoding)) throw invalid('a part of it has a Content-Transfer-Encoding')
}

const invalid = (why: string): GatewayError =>
  new GatewayError('invalid_body', { values: { detail: `The form in the request body cannot be read: ${why}.` } })
