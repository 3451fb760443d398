import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createLog } from '../../../core/observe/log.ts'
import { Secret } from '../../../core/sdk/api.ts'
import { LogLines } from './log-lines.ts'

const CANARY = 'sk-live-CANARYCANARY'

describe('The log', () => {
  it('is one JSON object a line, with a time in ISO 8601, the level in words, and nothing else', () => {
    const lines = new LogLines()
    createLog({ level: 'info', stream: lines }).info({ routes: 3 }, 'routes loaded')
    const [{ time, ...rest } = {}] = lines.parsed
    expect(rest).to.deep.equal({ level: 'info', routes: 3, msg: 'routes loaded' })
    expect(new Date(String(time)).toISOString()).to.equal(time)
  })

  it('writes the same line by either method', () => {
    const lines = new LogLines()
    const log = createLog({ level: 'info', stream: lines })
    log.warn({ routes: 3 }, 'loaded')
    log.writeLine('warn', { routes: 3 }, 'loaded')
    const [first, second] = lines.parsed.map(({ time: _, ...line }) => line)
    expect(second).to.deep.equal(first)
  })

  it('writes only lines of its level', () => {
    const lines = new LogLines()
    const log = createLog({ level: 'warn', stream: lines })
    log.info({}, 'no')
    log.writeLine('info', { n: 1 }, 'no')
    log.warn({}, 'yes')
    expect(lines.parsed.map(({ msg }) => msg)).to.deep.equal(['yes'])
  })

  it('reduces an error to its code or its place', () => {
    const lines = new LogLines()
    const log = createLog({ level: 'info', stream: lines })
    log.error({ err: Object.assign(new Error(CANARY), { code: 'ECONNRESET', headers: { authorization: CANARY } }) }, 'failed')
    log.error({ err: new Error(CANARY) }, 'failed')
    const [first, second] = lines.parsed
    expect(first).to.include({ err: 'ECONNRESET', msg: 'failed' })
    expect(second?.err).to.match(/^Error at .*log\.test\.ts:\d+:\d+$/)
    expect(lines.text).not.to.include('CANARY')
  })

  it('redacts a secret', () => {
    const lines = new LogLines()
    createLog({ level: 'info', stream: lines }).info({ config: { apiKey: new Secret(CANARY) } }, 'loaded')
    expect(lines.parsed[0]?.config).to.deep.equal({ apiKey: '[redacted]' })
    expect(lines.text).not.to.include('CANARY')
  })

  const LINES = Array.from({ length: 1000 }, (_, n) => n)

  /** The numbers of the lines that a process has written to stdout, after it has run `end`. */
  async function linesOfProcess(end: string): Promise<number[]> {
    const script = `
      const { createLog } = await import(${JSON.stringify(import.meta.resolve('../../../core/observe/log.ts'))})
      const log = createLog({ level: 'info' })
      for (let n = 0; n < ${LINES.length}; n++) log.info({ n }, 'line')
      ${end}`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).n)
  }

  it('is written to stdout completely and in order before a gateway ends', async () => {
    expect(await linesOfProcess('await log.flush(); process.exit(0)')).to.deep.equal(LINES)
  })

  it('is written to its last line to a slow reader, though no line follows', async () => {
    const script = `
      const { createLog } = await import(${JSON.stringify(import.meta.resolve('../../../core/observe/log.ts'))})
      const log = createLog({ level: 'info' })
      log.info({ text: 'x'.repeat(2 ** 20) }, 'more than a pipe holds')
      setTimeout(() => log.info({}, 'last'), 10)
      // By then its flush was due.
      setTimeout(() => console.error('late'), 200)
      process.stdin.resume()`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
    try {
      await once(child.stderr, 'data')
      let text = ''
      for await (const chunk of child.stdout) {
        text += chunk
        if (text.includes('"msg":"last"')) return
      }
      expect.fail('the process has ended')
    } finally {
      child.kill()
    }
  })

  it('is written to stdout completely, though the process exits at once', async () => {
    // The lines that the exit writes may overtake a write that a thread has begun.
    expect(await linesOfProcess('process.exit(0)')).to.have.members(LINES)
  })
})
