import { StartFailed, Supervisor } from '../../gateway/supervisor.ts'
import type { CommandIo } from '../output.ts'
import { prepareProcess, printStartError, printStarted, type StartOptions, untilSignal } from './lifecycle.ts'

/** `umg start` in several processes: supervises them until a signal ends them. Resolves to the exit code. */
export async function supervise(options: StartOptions, io: CommandIo): Promise<number> {
  const log = prepareProcess(options)
  const supervisor = new Supervisor({ workers: options.workers, listen: options, adminListen: options.adminListen, log })
  const ending = untilSignal({ reload: () => supervisor.reload(), drain: (times) => supervisor.stop(times) }, options, log)
  try {
    const { clients, welcome } = await supervisor.start()
    printStarted({ url: clients, notices: welcome.notices, welcome: welcome.text }, options, io)
    log.info({ processes: supervisor.processes }, 'processes started')
  } catch (error) {
    return error instanceof StartFailed ? error.code : printStartError(error, options, io)
  }
  const code = await ending.code
  await log.flush()
  return code
}
