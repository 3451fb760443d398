import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { validate } from '../../../core/cli/config/validate.ts'

const FOLDER = fileURLToPath(new URL('golden/', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** The value of variables: no diagnostic may print it. */
const CANARY = 'canary-in-the-coal-mine'
const ENV = { UPSTREAM_KEY: CANARY, CANARY, NUMBER: '12', SET_BUT_EMPTY: '' }

/** `umg validate` of every `golden/<name>.yaml` prints `<name>.expected.txt`. `UPDATE=1` writes those files. */
describe('umg validate prints the expected output for', () => {
  for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'))) {
    it(name, async () => {
      const output = await outputOf(name)
      const expected = `${FOLDER}${name.replace('.yaml', '.expected.txt')}`
      if (process.env.UPDATE) writeFileSync(expected, output)
      expect(output).to.equal(readFileSync(expected, 'utf8'))
    })
  }

  it('all of them, without the value of a variable or a secret', async () => {
    const all = await Promise.all(readdirSync(FOLDER).map((name) => (name.endsWith('.yaml') ? outputOf(name) : '')))
    expect(all.join('\n')).not.to.match(/canary|hunter\d|4711/)
  })
})

async function outputOf(name: string): Promise<string> {
  let output = ''
  const stream = {
    write: (text: string) => {
      output += text
    },
  }
  const code = await validate(`${FOLDER}${name}`, {}, { env: ENV, stdout: stream, stderr: stream })
  return `${output.replaceAll(FOLDER, '').replaceAll(ROOT, '<project>/')}exit ${code}\n`
}
