import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { validate } from '../../../core/cli/validate.ts'

const FOLDER = fileURLToPath(new URL('golden/', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** What no diagnostic may print: the values of variables. */
const CANARY = 'canary-in-the-coal-mine'
const ENV = { UPSTREAM_KEY: CANARY, CANARY, NUMBER: '12', SET_BUT_EMPTY: '' }

/** Every `golden/<name>.yaml` is validated; `<name>.expected.txt` is what the person sees. `UPDATE=1` writes it anew. */
describe('routes.yaml: what validate says of', () => {
  for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'))) {
    it(name, async () => {
      const seen = await see(name)
      const expected = `${FOLDER}${name.replace('.yaml', '.expected.txt')}`
      if (process.env.UPDATE) writeFileSync(expected, seen)
      expect(seen).to.equal(readFileSync(expected, 'utf8'))
    })
  }

  it('any of them: no value of a variable, no literal secret', async () => {
    const all = await Promise.all(readdirSync(FOLDER).map((name) => (name.endsWith('.yaml') ? see(name) : '')))
    expect(all.join('\n')).not.to.match(/canary|hunter\d|4711/)
  })
})

async function see(name: string): Promise<string> {
  let seen = ''
  const stream = {
    write: (text: string) => {
      seen += text
    },
  }
  const code = await validate(`${FOLDER}${name}`, { format: 'pretty' }, { env: ENV, stdout: stream, stderr: stream })
  return `${seen.replaceAll(FOLDER, '').replaceAll(ROOT, '<project>/')}exit ${code}\n`
}
