import { type OpenIdProvider, openIdProvider } from '../../accounts/openid.ts'
import type { ManagementOptions } from '../../control/services.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../gateway/gateway.ts'
import type { Log } from '../../observe/log.ts'
import { giveToLink } from '../../plugins/link-context.ts'
import { Secret } from '../../sdk/api.ts'
import { databaseUrl, openStore, type Store } from '../../store/database.ts'
import { ConfigError } from '../../text/diagnostic.ts'
import type { CommandIo } from '../output.ts'
import { printConfigError } from '../validation-report.ts'
import { createFirstAccess, type FirstAccess, formatWelcome } from './first-start.ts'
import {
  journalsIn,
  openCertificate,
  prepareProcess,
  printStartError,
  printStarted,
  type StartOptions,
  untilSignal,
  uploadsIn,
} from './lifecycle.ts'

/** `umg start` in one process: serves until a signal ends it. Resolves to the exit code. */
export async function start(options: StartOptions, io: CommandIo): Promise<number> {
  const log = prepareProcess(options)
  let gateway: Gateway
  let access: FirstAccess
  try {
    const certificate = openCertificate(options, log)
    const store = await openStore(databaseUrl(options))
    gateway = await startGateway({ ...gatewayOptions(store, log, options, io), certificate }).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    // After the start: a start that fails must not create secrets, which are shown only once.
    access = await createFirstAccess(store, gateway)
  } catch (error) {
    return error instanceof ConfigError ? printConfigError(error, options.routes, io) : printStartError(error, options, io)
  }
  // Before anything is printed: a reader of the output may send a signal at once.
  const ended = untilSignal(gateway, options, log)
  process.on('uncaughtException', (err) => {
    if (giveToLink(err)) return
    log.fatal({ err }, 'uncaught exception, shutting down')
    ended.drain(0, 1)
  })
  printStarted({ url: gateway.url, notices: gateway.notices, welcome: formatWelcome(access, gateway.urls) }, options, io)
  const code = await ended.code
  // Before the exit, which would retry unwritten lines forever if nothing reads them any more.
  await log.flush()
  return code
}

/** The options of a gateway, or of its control process. */
export function gatewayOptions(store: Store, log: Log, options: StartOptions, io: CommandIo): GatewayOptions {
  return {
    store,
    log,
    routes: options.routes,
    env: io.env,
    listen: options,
    ...(options.adminListen && { adminListen: options.adminListen }),
    version: options.version,
    ...(options.redis !== undefined && { redis: options.redis }),
    workerThreads: options.workerThreads,
    retention: { requests: options.keepRequests, usage: options.keepUsage },
    ...(options.metricsToken !== undefined && { metricsToken: new Secret(options.metricsToken) }),
    management: managementOf(options),
    journals: journalsIn(options),
    tracing: options.tracing,
    metricsExport: options.metricsExport,
    uploads: uploadsIn(options),
    corsOrigins: options.corsOrigins,
    websockets: options.websockets === 'on',
  }
}

/** With one listener, the public URL is also the console's. */
function managementOf(options: StartOptions): ManagementOptions {
  const { publicUrl, adminListen, trustedProxies } = options
  const consoleUrl = options.consoleUrl ?? (adminListen === undefined ? publicUrl : undefined)
  const urls = { ...(publicUrl && { clients: publicUrl }), ...(consoleUrl && { people: consoleUrl }) }
  return { urls, openid: openIdOf(options), trustedProxies }
}

function openIdOf({ oidcIssuer, oidcClientId, oidcClientSecret, oidcName }: StartOptions): OpenIdProvider | undefined {
  if (oidcIssuer === undefined) return undefined
  if (oidcClientId === undefined)
    throw new Error("--oidc-issuer needs --oidc-client-id, the gateway's client id at the provider.")
  const clientSecret = oidcClientSecret === undefined ? undefined : new Secret(oidcClientSecret)
  return openIdProvider({ issuer: oidcIssuer, clientId: oidcClientId, clientSecret, name: oidcName })
}
