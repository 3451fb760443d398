import { lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ListenerName } from '../http/listen.ts'

/** The folder of the sockets between the processes of one gateway. Only its user can open it. */
export class RunFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  static create(): RunFolder {
    return new RunFolder(mkdtempSync(join(tmpdir(), 'umg-')))
  }

  /**
   * The folder that the supervisor has created. One that is gone, as cleaners of temporary folders remove them, is made again. Throws an Error
   * that names it if it cannot be used.
   */
  static open(path: string): RunFolder {
    try {
      mkdirSync(path, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      // Where the folder was removed, another user may have made one of its name.
      const { uid, mode } = lstatSync(path)
      if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o077) !== 0))
        throw new Error(`${path}, the folder of the sockets of this gateway, can be used by others: remove it.`, { cause: error })
    }
    return new RunFolder(path)
  }

  /** The socket for messages between control and the proxies. */
  get control(): string {
    return join(this.path, 'control.sock')
  }

  /** The socket of control's HTTP server: console, management API, metrics. */
  get console(): string {
    return join(this.path, 'console.sock')
  }

  /** What the last scrape of the metrics saw. */
  get metrics(): string {
    return join(this.path, 'metrics.json')
  }

  /** A proxy's own listener: connections come from the supervisor, but Node enforces its time limits only if the server listens. */
  listener(process: string, name: ListenerName): string {
    return join(this.path, `${process}-${name}.sock`)
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
