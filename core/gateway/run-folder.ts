import { mkdtempSync, rmSync } from 'node:fs'
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
