// JavaScript that old versions of Node can run.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

/** Whether this Node cannot run the gateway. */
export const isTooOld = major < 24 || (major === 24 && minor < 12)
