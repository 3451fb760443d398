// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { loadConfig } from '../../../core/config/load.ts'
import { ConfigError } from '../../../core/text/diagnostic.ts'
import { plugin } from './full-config.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

const ENV = {
  STRING_VALUE: 'value',
  BOOL_VALUE: 'true',
  INT_VALUE: '1',
  FLOAT_VALUE: '1.1',
  HEX_VALUE: '0xdeadbeef',
  NULL_VALUE: 'null',
  INVALID_MAP_VALUE: 'value\nkey:value',
  LIST_VALUE: '[1, 2]',
  ALIAS_VALUE: '*anchor',
  DO_NOT_REPLACE_ME: 'Never use this value',
  REPLACE_ME: '${DO_NOT_REPLACE_ME}',
  VALUE_WITH_ESCAPE: 'value$$',
  EMPTY: '',
}

/** The examples of OpenTelemetry's Configuration Data Model, "Environment variable substitution", and examples of our own. */
const VALUES: readonly (readonly [written: string, value: unknown])[] = [
  ['${STRING_VALUE}', 'value'],
  ['${BOOL_VALUE}', true],
  ['${INT_VALUE}', 1],
  ['${FLOAT_VALUE}', 1.1],
  ['${HEX_VALUE}', 3735928559],
  ['${NULL_VALUE}', null],
  ['"${STRING_VALUE}"', 'value'],
  ['"${BOOL_VALUE}"', 'true'],
  ['"${INT_VALUE}"', '1'],
  ['"${FLOAT_VALUE}"', '1.1'],
  ["'${HEX_VALUE}'", '0xdeadbeef'],
  ['!!str ${INT_VALUE}', '1'],
  ['${env:STRING_VALUE}', 'value'],
  ['${INVALID_MAP_VALUE}', 'value\nkey:value'],
  ['${LIST_VALUE}', '[1, 2]'],
  ['${ALIAS_VALUE}', '*anchor'],
  ['foo ${STRING_VALUE} ${FLOAT_VALUE}', 'foo value 1.1'],
  ['${INT_VALUE}${INT_VALUE}', 11],
  ['${UNDEFINED_KEY:-fallback}', 'fallback'],
  ['${env:UNDEFINED_KEY:-fallback}', 'fallback'],
  ['${EMPTY:-fallback}', 'fallback'],
  ['${STRING_VALUE:-fallback}', 'value'],
  ['${UNDEFINED_KEY:-5}', 5],
  ['"${UNDEFINED_KEY:-}"', ''],
  ['${UNDEFINED_KEY:-a:-b}', 'a:-b'],
  ['${REPLACE_ME}', '${DO_NOT_REPLACE_ME}'],
  ['${UNDEFINED_KEY:-${STRING_VALUE}}', '${STRING_VALUE}'],
  ['$${STRING_VALUE}', '${STRING_VALUE}'],
  ['$$${STRING_VALUE}', '$value'],
  ['$$$${STRING_VALUE}', '$${STRING_VALUE}'],
  ['$${STRING_VALUE:-fallback}', '${STRING_VALUE:-fallback}'],
  ['$${STRING_VALUE:-${STRING_VALUE}}', '${STRING_VALUE:-value}'],
  ['${VALUE_WITH_ESCAPE}', 'value$$'],
  ['a $$ b', 'a $ b'],
  ['a $ b', 'a $ b'],
  ['$STRING_VALUE', '$STRING_VALUE'],
  ['|\n        line ${STRING_VALUE}\n        end', 'line value\nend\n'],
  ['{ "${STRING_VALUE}": "${STRING_VALUE}" }', { '${STRING_VALUE}': 'value' }],
  ['["${INT_VALUE}", 2]', ['1', 2]],
  ['"${file:secret.txt}"', 'from a file'],
  ['"${file:./secret.txt}!"', 'from a file!'],
  ['${file:number.txt}', 7],
]

const ERRORS: readonly (readonly [written: string, message: string])[] = [
  ['${UNDEFINED_KEY}', 'UNDEFINED_KEY is not set'],
  ['${EMPTY}', 'EMPTY is not set'],
  ['${STRING_VALUE:?error}', '"${STRING_VALUE:?error}" is not a reference'],
  ['${1API_KEY}', '"${1API_KEY}" is not a reference'],
  ['${API_$KEY}', '"${API_$KEY}" is not a reference'],
  ['${}', '"${}" is not a reference'],
  ['${env:}', '"${env:}" is not a reference'],
  ['${file:}', '"${file:}" is not a reference'],
  ['${ENV:STRING_VALUE}', '"${ENV:STRING_VALUE}" is not a reference'],
  ['${STRING_VALUE', 'its "}" is missing'],
  ['${UNDEFINED_KEY:-$${UNDEFINED_KEY}}', 'its "}" is missing'],
  ['${file:nowhere.txt}', 'the file nowhere.txt is missing or empty'],
  ['${file:empty.txt}', 'the file empty.txt is missing or empty'],
  ['${file:.}', 'cannot be read (EISDIR)'],
]

describe('a reference in routes.yaml', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
    folder.write('secret.txt', '\n  from a file \n')
    folder.write('number.txt', '7\n')
    folder.write('empty.txt', ' \n')
  })

  after(() => folder?.remove())

  async function read(written: string): Promise<unknown> {
    const text = `version: 1\nchain:\n  - plugin: ${plugin('any')}\n    config:\n      value: ${written}\nnamespaces: {}\n`
    const config = await loadConfig(folder.write('routes.yaml', text), ENV)
    return (config.chain[0]!.config as { value: unknown }).value
  }

  for (const [written, value] of VALUES) {
    it(`such as ${written} is ${JSON.stringify(value)}`, async () => {
      expect(await read(written)).to.deep.equal(value)
    })
  }

  for (const [written, message] of ERRORS) {
    it(`such as ${written} is an error`, async () => {
      const error = await read(written).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(ConfigError)
      const { diagnostics } = error as ConfigError
      expect(diagnostics).to.have.length(1)
      expect(diagnostics[0]).to.include({ line: 5, column: 14 })
      expect(diagnostics[0]?.message).to.contain(message)
    })
  }

  it('to a file may have an absolute path', async () => {
    expect(await read(`"\${file:${folder.path}/secret.txt}"`)).to.equal('from a file')
  })
})
