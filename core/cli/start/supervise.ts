import { StartFailed, Supervisor } from '../../gateway/supervisor.ts'
import type { CertificateWatch } from '../../http/certificate.ts'
import { installedVersion } from '../installed-version.ts'
import type { CommandIo } from '../output.ts'
import { openCertificate, prepareProcess, printStartError, printStarted, type StartOptions, untilSignal } from './lifecycle.ts'

/** `umg start` in several processes: supervises them until a signal ends them. Resolves to the exit code. */
export async function supervise(options: StartOptions, io: CommandIo): Promise<number> {
  const log = prepareProcess(options)
  const { workers, adminListen } = options
  let certificate: CertificateWatch | undefined
  try {
    certificate = openCertificate(options, log)
  } catch (error) {
    return printStartError(error, options, io)
  }
  // The path that processes are started by.
  const installed = (): string => installedVersion(process.argv[1]!)
  const supervisor = new Supervisor({ workers, listen: options, adminListen, certificate, log, installedVersion: installed })
  const ending = untilSignal({ reload: () => supervisor.reload(), drain: (times) => supervisor.stop(times) }, options, log)
  try {
    const { url, welcome } = await supervisor.start()
    printStarted({ url, notices: welcome.notices, welcome: welcome.text }, options, io)
    log.info({ processes: supervisor.processes }, 'processes started')
  } catch (error) {
    return error instanceof StartFailed ? error.code : printStartError(error, options, io)
  }
  const code = await ending.code
  await log.flush()
  return code
}
