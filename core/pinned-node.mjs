// JavaScript that old versions of Node can run.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'

/** The path of the Node that is installed with the gateway as an optional dependency; undefined where there is none. */
export function findPinnedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  try {
    return createRequire(import.meta.url).resolve(`node-${platform}-${process.arch}/bin/${name}`)
  } catch {
    return undefined
  }
}

/** Runs this command on another Node in place of this one: with its streams, its signals, and its end. */
export function runOn(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' })
  const pass = (signal) => child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, pass)
  child.on('error', (error) => {
    process.stderr.write(`${node} does not start: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, pass)
    if (signal === null) process.exitCode = code
    else process.kill(process.pid, signal)
  })
}
