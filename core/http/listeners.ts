import type { Server } from 'node:http'
import type { Router } from '@koa/router'
import { GatewayError } from '../errors.ts'
import type { Roster } from '../roster.ts'
import { type AppParts, createApp } from './app.ts'
import type { Exchange } from './exchange.ts'
import { createHttpServer, type Listen, listen } from './server.ts'

/** What is served, to whom. */
export interface Routers {
  /** On every listener: the console's playground calls as clients do, at the origin of its page. */
  readonly clients: readonly Router[]
  /** On the admin listener where there is one, else on the only one. Never beside it on the public one. */
  readonly operators: readonly Router[]
}

/** Where to listen. Without `adminListen` there is one listener. */
export interface ListenerOptions {
  readonly listen: Listen
  readonly adminListen?: Listen
}

/** The gateway's open listeners. */
export interface Listeners {
  /** `http://127.0.0.1:8080` */
  readonly url: string
  readonly adminUrl: string
  /** Closes them. Resolves when the calls under way are over; what goes on after `grace` milliseconds is told to end. */
  stop(grace: number): Promise<void>
}

/** Starts listening. Rejects where an address cannot be had. */
export async function openListeners(parts: AppParts, routers: Routers, options: ListenerOptions): Promise<Listeners> {
  const serve = (served: readonly Router[]) =>
    createHttpServer(createApp(parts, served).callback(), (id, error) => parts.settlement.refused(id, error))
  const { adminListen } = options
  const everything = [...routers.clients, ...routers.operators]
  const front = serve(adminListen === undefined ? everything : routers.clients)
  const url = await listen(front, options.listen)
  if (adminListen === undefined) return { url, adminUrl: url, stop: (grace) => stop([front], parts.open, grace) }

  const back = serve(everything)
  const adminUrl = await listen(back, adminListen).catch((error: unknown) => {
    front.close()
    throw error
  })
  return { url, adminUrl, stop: (grace) => stop([front, back], parts.open, grace) }
}

/** Closes the listeners, waits for the calls under way, and at the end of its patience tells their clients so. */
async function stop(servers: readonly Server[], open: Roster<Exchange>, grace: number): Promise<void> {
  const closed = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  // A kept-alive socket whose stream ends would stay, and serve on: idle ones are closed again and again.
  const sweep = setInterval(() => {
    for (const server of servers) server.closeIdleConnections()
  }, 50)
  const patience = setTimeout(() => {
    for (const exchange of open) exchange.stop(new GatewayError('service_unavailable', { headers: { 'retry-after': '1' } }))
    setTimeout(() => {
      for (const server of servers) server.closeAllConnections()
    }, LAST_WORDS_MS).unref()
  }, grace)
  await closed
  clearInterval(sweep)
  clearTimeout(patience)
}

/** For error frames to reach their clients. */
const LAST_WORDS_MS = 500
