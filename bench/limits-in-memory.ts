/** Loaded into a gateway before it starts: its limits are counted in its memory. Without this, they are in the database or in Redis. */

import { MemoryStorage } from '../core/limits/authority.ts'
import { DatabaseStorage } from '../core/limits/database-storage.ts'

const memory = new MemoryStorage()
DatabaseStorage.prototype.change = (changes) => memory.change(changes)
