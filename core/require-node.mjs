// Ends the process if its Node is too old. JavaScript that old versions of Node can run.
import { isTooOld } from './node-version.mjs'

if (isTooOld) {
  process.stderr.write(
    `Node 24.12 or newer is needed, but this is ${process.version}: install the optional dependencies too (without --omit=optional), which have it on Linux and Windows, or install Node 24 or 26, and try again.\n`,
  )
  process.exit(1)
}
