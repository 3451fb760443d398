#!/usr/bin/env node
// The command `unified-model-gateway`, which npx runs by the name of the package: `umg`, but without a command it starts the gateway.
const [, , command] = process.argv
if (command === undefined || /^-(?!h$|-help$|V$|-version$)/.test(command)) process.argv.splice(2, 0, 'start')
await import('./umg.mjs')
