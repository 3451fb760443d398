import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GatewayError } from '../errors.ts'
import { newRequestId } from '../text/ids.ts'

/** Bytes that are read from a file at once. */
const PIECE = 64 * 1024

/** A file without a name: nothing is left of it when it is closed, nor when the process is killed. */
export class UploadFile {
  readonly #handle: FileHandle
  #size = 0
  #reads = 0
  #isClosed = false

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Creates one in a folder, which is created too. Throws `gateway_overloaded` if the disk is full or has no room for it. */
  static async create(folder: string): Promise<UploadFile> {
    return refusing(async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, newRequestId())
      const handle = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600)
      await rm(path)
      return new UploadFile(handle)
    })
  }

  /** In bytes. */
  get size(): number {
    return this.#size
  }

  /** Adds bytes to the end. Throws `gateway_overloaded` if the disk is full. */
  async append(bytes: Uint8Array): Promise<void> {
    await refusing(() => this.#handle.writeFile(bytes))
    this.#size += bytes.length
  }

  /** Reads `size` bytes from a place on. Throws if the file is closed meanwhile. */
  async *read(from: number, size: number): AsyncGenerator<Uint8Array> {
    this.#reads++
    try {
      for (let at = 0; at < size; ) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE, size - at))
        const { bytesRead } = await this.#handle.read(piece, 0, piece.length, from + at)
        if (bytesRead === 0) throw new Error('an uploaded file is shorter than it was')
        yield piece.subarray(0, bytesRead)
        at += bytesRead
      }
    } finally {
      this.#reads--
      if (this.#isClosed) this.#closeIfUnread()
    }
  }

  /** Frees its room on the disk, once it is no longer being read. */
  close(): void {
    this.#isClosed = true
    this.#closeIfUnread()
  }

  #closeIfUnread(): void {
    if (this.#reads === 0) this.#handle.close().catch(() => undefined)
  }
}

async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    throw new GatewayError('gateway_overloaded', { cause })
  }
}
