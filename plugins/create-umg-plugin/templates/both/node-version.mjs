// Plain JavaScript, so that an old Node can read it and say what to do.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(`Node 24.12 or newer is needed, but this is ${process.version}: install Node 24 or 26, and try again.\n`)
  process.exit(1)
}
