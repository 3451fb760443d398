/**
 * What a proxy costs in Node that does nothing but relay: its HTTP server, and undici's pool. `node relay.ts PORT` relays to the upstream at
 * that port, and prints where it listens.
 */
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Dispatcher, Pool } from 'undici'

const upstream = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: null, pipelining: 1 })

/** As the gateway's pools: the tools send requests for longer than a minute. */
const NO_TIMES = { headersTimeout: 0, bodyTimeout: 0 }

/** Passes a reply on as it comes. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) controller.abort(new Error('the client has left'))
    })
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: OutgoingHttpHeaders): void {
    const { connection, 'transfer-encoding': encoding, ...passed } = headers
    this.#response.writeHead(status, passed)
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#response.write(bytes)
  }

  onResponseEnd(): void {
    this.#response.end()
  }

  onResponseError(): void {
    this.#response.destroy()
  }
}

const server = createServer({ noDelay: true, keepAliveTimeout: 0 }, (request, response) => {
  const { method, url, headers } = request
  const { host, connection, ...passed } = headers
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    upstream.dispatch(
      { method: method as Dispatcher.HttpMethod, path: url!, headers: passed, body, ...NO_TIMES },
      new Relay(response),
    )
  })
})

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
