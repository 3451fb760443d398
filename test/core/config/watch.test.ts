import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { FilesRead } from '../../../core/config/file/files-read.ts'
import { FileWatch } from '../../../core/config/watch.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

/** So long that only what is seen to happen counts. */
const NEVER = 600_000

describe('a watch on a file', () => {
  let folder: TemporaryFolder
  let watch: FileWatch
  let look: () => void

  const at = (name: string): string => join(folder.path, name)

  beforeEach(() => {
    folder = temporaryFolder()
    folder.write('etc/file', 'one')
  })

  afterEach(() => {
    watch.close()
    folder.remove()
  })

  function follow(path: string, poll = NEVER): void {
    watch = new FileWatch(() => look(), { quiet: 5, longest: 50, poll })
    watch.follow([path])
  }

  /** Does something, and waits until it was seen. */
  async function seen(act: () => unknown = () => undefined): Promise<void> {
    const looked = new Promise<void>((resolve) => {
      look = resolve
    })
    await act()
    await looked
  }

  it('sees it written, replaced, removed and come back', async () => {
    follow(at('etc/file'))
    await seen(() => writeFile(at('etc/file'), 'two'))
    await writeFile(at('etc/next'), 'three')
    await seen(() => rename(at('etc/next'), at('etc/file')))
    await seen(() => rm(at('etc/file')))
    await seen(() => writeFile(at('etc/file'), 'four'))
  })

  it('sees any link on the way lead elsewhere', async () => {
    folder.write('releases/2/etc/file', 'two')
    await mkdir(at('releases/1'))
    await rename(at('etc'), at('releases/1/etc'))
    await symlink(at('releases/1'), at('current'))
    await symlink('current/etc/file', at('mine'))
    follow(at('mine'))
    await symlink('releases/2', at('next'))
    await seen(() => rename(at('next'), at('current')))
    watch.follow([at('mine')])
    await seen(() => writeFile(at('releases/2/etc/file'), 'three'))
  })

  it('sees the folders come in which it will be', async () => {
    follow(at('not/yet/file'))
    await seen(() => mkdir(at('not')))
    watch.follow([at('not/yet/file')])
    await seen(() => mkdir(at('not/yet')))
    watch.follow([at('not/yet/file')])
    await seen(() => writeFile(at('not/yet/file'), 'one'))
  })

  it('sees its folder go and another one come', async () => {
    follow(at('etc/file'))
    await seen(() => rename(at('etc'), at('old')))
    watch.follow([at('etc/file')])
    await seen(() => folder.write('etc/file', 'two'))
  })

  it('does not mind links that go round in a circle', async () => {
    await symlink('b', at('a'))
    await symlink('a', at('b'))
    follow(at('a'))
    await seen(() => rm(at('b')))
  })

  it('looks now and then at what gives no sign', async function () {
    if (process.platform !== 'linux') this.skip()
    const files = new FilesRead()
    await files.read('/proc/uptime')
    follow('/proc/uptime', 5)
    while (!(await files.changed())) await seen()
  })

  it('says nothing any more once it is closed', async () => {
    let other: FileWatch
    follow(at('etc/file'), 5)
    await seen()
    watch.close()
    let looks = 0
    look = () => looks++
    watch.follow([at('etc/file')])
    watch.touch()
    // One that waits longer would see the same later.
    const seenByOther = new Promise<void>((resolve) => {
      other = new FileWatch(resolve, { quiet: 30, poll: NEVER })
    })
    other!.follow([at('etc/file')])
    await writeFile(at('etc/file'), 'two')
    await seenByOther
    other!.close()
    expect(looks).to.equal(0)
  })
})
