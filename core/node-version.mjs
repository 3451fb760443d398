// JavaScript that old versions of Node can run.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(
    `Node 24.12 or newer is needed, but this is ${process.version}: run "npm ci" without --omit=optional, or install Node 24 (see .node-version), and try again.\n`,
  )
  process.exit(1)
}
