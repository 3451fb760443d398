import { KeyDirectory } from '../../../core/keys/directory.ts'
import { StoredKeys } from '../../../core/keys/source.ts'
import type { Store } from '../../../core/store/database.ts'

/** The directory of a store's keys; closing it writes the times of their last use. */
export interface StoredDirectory extends Pick<KeyDirectory, 'verify' | 'declare'> {
  close(): Promise<void>
}

export function openDirectory(store: Store): StoredDirectory {
  const source = new StoredKeys(store)
  const directory = new KeyDirectory(source, { clock: Date.now })
  return {
    verify: (secret) => directory.verify(secret),
    declare: (config) => directory.declare(config),
    close() {
      directory.close()
      return source.close()
    },
  }
}
