/** Imported by each thread for large bodies: what takes hundreds of milliseconds delays no small call. */
import '../plugins/resolve-plugin-api.ts'
import { lowerPriority } from '../async/thread-priority.ts'

lowerPriority()
