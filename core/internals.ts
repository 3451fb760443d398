/// <reference path="./undici.d.ts" />

/**
 * What the gateway uses of Node and of undici that neither documents: nothing else in core or plugins does. `missingInternals` tries it at
 * the start, because another version may lack it.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import api from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Client from 'undici/lib/dispatcher/client.js'
import Pool from 'undici/lib/dispatcher/pool.js'

export { Agent, buildConnector, Client, Pool }

/** The method of dispatchers that sends a request, which undici itself gives them. Call it with a dispatcher as `this`. */
export const { request } = api

/** Opens a connection by undici's connector, whose types omit the socket that it returns. */
export const openSocket = (connector: buildConnector.connector, ...args: Parameters<buildConnector.connector>): Socket =>
  connector(...args) as unknown as Socket

/**
 * Makes the head of a stream; it is sent with the first write. Returns whether its body is in chunks: then the caller writes the frame of
 * each, and the last one (docs/decisions/hot-path.md). Call it before the first write.
 */
export function beginUnframed(response: ServerResponse): boolean {
  response.writeHead(response.statusCode)
  const isChunked = response.chunkedEncoding
  response.chunkedEncoding = false
  return isChunked
}

/** Calls back when a pipelined reply has its turn: Node gives it its socket when the reply before it has ended. */
export function onTurn(response: ServerResponse, begin: () => void): void {
  response.once('socket', begin)
}

/** Lets a server get `replace(socket)` for each of its connections. */
export function replaceConnections(server: Server, replace: (socket: Socket) => Socket): void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const replaced = replace(socket)
    for (const listener of listeners) listener.call(server, replaced)
  })
}

/** Each use, and whether this process can make it. */
const PROBES: Readonly<Record<string, () => boolean>> = {
  'ServerResponse.chunkedEncoding': () => {
    let sent = ''
    const response = replyInto((text) => {
      sent += text
    })
    if (!beginUnframed(response)) return false
    response.write('one, ')
    response.end('two')
    return /\r\nTransfer-Encoding: chunked\r\n(?:.+\r\n)*\r\none, two$/i.test(sent)
  },
  "the event 'socket' of a ServerResponse": () => {
    let hasTurn = false
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    onTurn(response, () => {
      hasTurn = true
    })
    response.assignSocket(new Socket())
    return hasTurn
  },
  "the listeners of a Server to 'connection'": () => createServer().listenerCount('connection') > 0,
  "undici's dispatchers": () => [Agent, Client, Pool].every(({ prototype }) => typeof prototype.dispatch === 'function'),
  "undici's request": () => typeof request === 'function',
  "the socket of undici's connector": () => {
    // Its name is never found, so that nothing is sent.
    const target = { hostname: 'probe.invalid', protocol: 'http:', port: '80' }
    const socket = openSocket(buildConnector({ lookup: () => undefined, timeout: 0 }), target, () => undefined)
    return socket instanceof Socket && socket.destroy() === socket
  },
}

/** The names of the uses that this Node, or this undici, does not allow; none on versions that the tests run on. */
export const missingInternals = (probes = PROBES): readonly string[] =>
  Object.keys(probes).filter((name) => {
    try {
      return !probes[name]!()
    } catch {
      return true
    }
  })

/** A reply whose bytes go to `receive`. */
function replyInto(receive: (text: string) => void): ServerResponse {
  const sink = new Writable({
    write(bytes, _, done) {
      receive(String(bytes))
      done()
    },
  })
  const request = new IncomingMessage(new Socket())
  Object.assign(request, { httpVersionMajor: 1, httpVersionMinor: 1 })
  const response = new ServerResponse(request)
  response.assignSocket(sink as Socket)
  return response
}
