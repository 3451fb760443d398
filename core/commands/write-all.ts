import { once } from 'node:events'
import type { StoreIo } from './with-store.ts'

/** Writes a text that comes in pieces, each when the reader has taken the one before. */
export async function writeAll({ stdout }: StoreIo, pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) if (stdout.write(piece) === false) await once(stdout as NodeJS.WriteStream, 'drain')
}
