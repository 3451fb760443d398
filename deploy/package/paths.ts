import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The folder of the built package. */
export const PACKAGE = fileURLToPath(new URL('../../dist/', import.meta.url))
