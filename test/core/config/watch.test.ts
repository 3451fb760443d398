import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { FilesRead } from '../../../core/config/file/files-read.ts'
import { FileWatch } from '../../../core/config/watch.ts'
import { itWith } from '../../support/requirements.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

/** So long that no test sees it pass. */
const NEVER = 600_000

describe('FileWatch', () => {
  let folder: TemporaryFolder
  let watch: FileWatch
  let changed: () => void

  const at = (name: string): string => join(folder.path, name)

  beforeEach(() => {
    folder = temporaryFolder()
    folder.write('etc/file', 'one')
  })

  afterEach(() => {
    watch?.close()
    folder?.remove()
  })

  function follow(path: string, poll = NEVER): void {
    watch = new FileWatch(() => changed(), { quiet: 5, longest: 50, poll })
    watch.follow([path])
  }

  /** Does something, and waits until the watch reports a change. */
  async function reported(act: () => unknown = () => undefined): Promise<void> {
    const report = new Promise<void>((resolve) => {
      changed = resolve
    })
    await act()
    await report
  }

  it('reports that a file is written, replaced, removed and created again', async () => {
    follow(at('etc/file'))
    await reported(() => writeFile(at('etc/file'), 'two'))
    await writeFile(at('etc/next'), 'three')
    await reported(() => rename(at('etc/next'), at('etc/file')))
    await reported(() => rm(at('etc/file')))
    await reported(() => writeFile(at('etc/file'), 'four'))
  })

  it('reports that a symbolic link in the path is replaced', async () => {
    folder.write('releases/2/etc/file', 'two')
    await mkdir(at('releases/1'))
    await rename(at('etc'), at('releases/1/etc'))
    await symlink(at('releases/1'), at('current'))
    await symlink('current/etc/file', at('mine'))
    follow(at('mine'))
    await symlink('releases/2', at('next'))
    await reported(() => rename(at('next'), at('current')))
    watch.follow([at('mine')])
    await reported(() => writeFile(at('releases/2/etc/file'), 'three'))
  })

  it('reports that missing folders of the path are created', async () => {
    follow(at('not/yet/file'))
    await reported(() => mkdir(at('not')))
    watch.follow([at('not/yet/file')])
    await reported(() => mkdir(at('not/yet')))
    watch.follow([at('not/yet/file')])
    await reported(() => writeFile(at('not/yet/file'), 'one'))
  })

  it('reports that the folder is replaced', async () => {
    follow(at('etc/file'))
    await reported(() => rename(at('etc'), at('old')))
    watch.follow([at('etc/file')])
    await reported(() => folder.write('etc/file', 'two'))
  })

  it('copes with cycles of symbolic links', async () => {
    await symlink('b', at('a'))
    await symlink('a', at('b'))
    follow(at('a'))
    await reported(() => rm(at('b')))
  })

  itWith('linux', 'polls files that give no change events', async () => {
    const files = new FilesRead()
    await files.read('/proc/uptime')
    follow('/proc/uptime', 5)
    while (!(await files.changed())) await reported()
  })

  it('reports nothing after close', async () => {
    let other: FileWatch
    follow(at('etc/file'), 5)
    await reported()
    watch.close()
    let reports = 0
    changed = () => reports++
    watch.follow([at('etc/file')])
    watch.touch()
    // Another watch that waits longer: when it reports the change, the closed one would have.
    const reportedByOther = new Promise<void>((resolve) => {
      other = new FileWatch(resolve, { quiet: 30, poll: NEVER })
    })
    other!.follow([at('etc/file')])
    await writeFile(at('etc/file'), 'two')
    await reportedByOther
    other!.close()
    expect(reports).to.equal(0)
  })
})
