import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { itWith } from '../support/requirements.ts'
import { readText } from '../support/sources.ts'
import { startOptions } from './start-variables.ts'

const FILE = 'deploy/systemd/umg.service'
const UNIT = readText(FILE)
const setting = (directive: string): string | undefined => new RegExp(`^${directive}=(.*)$`, 'm').exec(UNIT)?.[1]

function analyze(...args: string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

describe('the unit of systemd', () => {
  itWith('systemd', 'is valid', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'umg-systemd-'))
    try {
      // The command and the user are those of a machine on which it is installed.
      const here = UNIT.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`).replaceAll('=umg\n', '=root\n')
      await writeFile(join(folder, 'umg.service'), here)
      expect(analyze('verify', '--man=no', join(folder, 'umg.service'))).to.deep.equal({ status: 0, output: '' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  itWith('systemd', 'exposes little: 2.0 of 10 at most', () => {
    const { status, output } = analyze('security', '--offline=true', '--no-pager', '--threshold=20', FILE)
    expect(status, output).to.equal(0)
    return Promise.resolve()
  })

  it('has a user without rights, which sysusers.d makes, and write access to its data only', () => {
    expect(readText('deploy/systemd/umg.sysusers.conf')).to.match(new RegExp(`^u ${setting('User')} - `, 'm'))
    expect(setting('Group')).to.equal(setting('User'))
    expect([setting('ProtectSystem'), setting('CapabilityBoundingSet'), setting('NoNewPrivileges')]).to.deep.equal([
      'strict',
      '',
      'yes',
    ])
    expect(UNIT).to.include(`UMG_DATA=/var/lib/${setting('StateDirectory')}\n`)
    expect(UNIT).to.include(`UMG_ROUTES=/etc/${setting('ConfigurationDirectory')}/routes.yaml`)
    // V8 could not compile.
    expect(setting('MemoryDenyWriteExecute')).to.equal(undefined)
  })

  it('sets variables that the gateway knows', () => {
    const set = Array.from(setting('Environment')!.matchAll(/\b(UMG_\w+)=/g), ([, name]) => name)
    expect(startOptions().variables).to.include.members(set)
  })

  it('reloads by SIGHUP, and lets the gateway drain before it is killed', () => {
    expect(setting('ExecReload')).to.equal('/bin/kill -HUP $MAINPID')
    expect(setting('KillMode')).to.equal('mixed')
    expect(Number(setting('TimeoutStopSec'))).to.be.greaterThan(5 + 30)
  })
})
