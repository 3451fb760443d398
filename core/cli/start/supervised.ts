import { RunFolder } from '../../gateway/run-folder.ts'
import { type Assignment, type Orders, reportAlive, serveSupervised } from '../../gateway/supervised.ts'
import type { Log } from '../../observe/log.ts'
import { giveToLink } from '../../plugins/link-context.ts'
import { ConfigError } from '../../text/diagnostic.ts'
import type { CommandIo } from '../output.ts'
import { printConfigError } from '../validation-report.ts'
import { journalsIn, prepareProcess, printStartError, type StartOptions, uploadsIn } from './lifecycle.ts'

/** `umg start` as one of the processes of a supervisor. Resolves to the exit code. */
export async function startSupervised(assignment: Assignment, options: StartOptions, io: CommandIo): Promise<number> {
  // The supervisor has them too, and gives orders.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  // Without a supervisor nobody would end a process that does not serve yet.
  if (!process.connected) return 1
  const endAlone = (): never => {
    new RunFolder(assignment.folder).remove()
    return process.exit(1)
  }
  process.once('disconnect', endAlone)
  reportAlive(options.version)
  const log = prepareProcess(options)
  let orders: Orders
  try {
    orders = await (assignment.role === 'control' ? control : proxy)(assignment, options, { io, log })
  } catch (error) {
    return error instanceof ConfigError ? printConfigError(error, options.routes, io) : printStartError(error, options, io)
  }
  const { ended, leave } = serveSupervised(assignment.role, orders, options.grace * 1000)
  process.off('disconnect', endAlone)
  let code = 0
  process.on('uncaughtException', (err) => {
    if (giveToLink(err)) return
    log.fatal({ err }, 'uncaught exception, ending this process')
    code = 1
    leave()
  })
  try {
    await ended
  } catch (error) {
    return printStartError(error, options, io)
  }
  await log.flush()
  // The supervisor removes it, unless it was killed.
  if (!process.connected && assignment.role === 'control') new RunFolder(assignment.folder).remove()
  return code
}

interface Surroundings {
  readonly io: CommandIo
  readonly log: Log
}

// Each role imports only what it needs: their memory is counted by the process.

async function control(assignment: Assignment, options: StartOptions, { io, log }: Surroundings): Promise<Orders> {
  const { startControl } = await import('../../gateway/control.ts')
  const { databaseUrl, openStore } = await import('../../store/database.ts')
  const { createFirstAccess, formatWelcome } = await import('./first-start.ts')
  const { gatewayOptions } = await import('./start.ts')
  // Proxies may serve already: they need its socket and their metrics, with the database or without.
  const store = await openStore(databaseUrl(options), { later: assignment.predecessors > 0 })
  const folder = RunFolder.open(assignment.folder)
  const starting = startControl({ ...gatewayOptions(store, log, options, io), ...assignment, folder })
  const running = await starting.catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  return {
    reload: () => void running.reload('signal'),
    replaced: (role) => running.replaced(role),
    async started() {
      const access = await createFirstAccess(store, running)
      return { notices: running.notices, text: formatWelcome(access, running.urls) }
    },
    drain: ({ grace }) => running.close(grace),
    // It serves no calls.
    leave: () => running.close(0),
  }
}

async function proxy(assignment: Assignment, options: StartOptions, { io, log }: Surroundings): Promise<Orders> {
  const { startProxy } = await import('../../gateway/proxy.ts')
  const { version, workerThreads, routes, adminListen, tracing } = options
  const folder = RunFolder.open(assignment.folder)
  const running = await startProxy({
    log,
    version,
    workerThreads,
    processes: options.workers,
    predecessors: assignment.predecessors,
    routes,
    env: io.env,
    process: assignment.process,
    folder,
    adminListen: adminListen !== undefined,
    tls: options.tlsCert !== undefined,
    journals: journalsIn(options),
    tracing,
    uploads: uploadsIn(options),
    corsOrigins: options.corsOrigins,
    websockets: options.websockets === 'on',
  })
  return {
    connection: running.accept,
    certificate: running.useCertificate,
    drain: (times) => running.drain(times),
    leave: () => running.leave(options.grace * 1000),
  }
}
