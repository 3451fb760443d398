import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { Connections } from '../../../core/http/connections.ts'
import { listen } from '../../../core/http/listen.ts'
import { createHttpServer } from '../../../core/http/server.ts'
import { rawConnection } from '../../support/raw-connection.ts'

const options = {
  connections: new Connections(Number.POSITIVE_INFINITY, { add: () => undefined }),
  writeStall: 0,
  onRefused: () => undefined,
}

/** What a link may do with the head of a reply. */
const STEPS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  'no header is set': () => undefined,
  'headers are set': (response) => response.setHeader('X-One', 'a').setHeader('x-two', 2).setHeader('set-cookie', ['a=1', 'b=2']),
  'one is set again, in another spelling': (response) => response.setHeader('X-One', 'a').setHeader('x-ONE', 'b'),
  'one is removed': (response) => response.setHeader('x-one', 'a').setHeader('x-two', 'b').removeHeader('X-ONE'),
  'one is removed that Node adds': (response) => response.removeHeader('date'),
  'values are added': (response) =>
    response.appendHeader('vary', 'a').appendHeader('Vary', ['b', 'c']).appendHeader('x-one', 'a'),
  'headers are set by a map': (response) => response.setHeaders(new Map([['x-one', 'a']])),
  'a name is not allowed': (response) => response.setHeader('x one', 'a'),
  'a value is not allowed': (response) => response.setHeader('x-one', 'a\nb'),
  'a value is missing': (response) => response.setHeader('x-one', undefined as never),
  'the head is written with headers': (response) =>
    response.setHeader('x-one', 'a').setHeader('x-two', 'b').writeHead(201, { 'X-One': 'c', 'x-three': 'd' }),
  'the head is written with a list': (response) =>
    response.setHeader('x-one', 'a').setHeader('x-two', 'b').writeHead(201, ['X-One', 'c', 'x-one', 'd', 'x-three', 'e']),
  'the head is written with a reason': (response) => response.setHeader('x-one', 'a').writeHead(202, 'Taken', { 'x-two': 'b' }),
  'the head is written with headers after no reason': (response) =>
    response.setHeader('x-one', 'a').writeHead(200, undefined, { 'x-two': 'b' }),
  'no value is added': (response) => response.appendHeader('vary', 'a').appendHeader('vary', undefined as never),
  'no value is added to none': (response) => response.appendHeader('vary', undefined as never),
  'a header is set after the head': (response) => response.writeHead(200).setHeader('x-one', 'a'),
  'the head is flushed': (response) => response.setHeader('x-one', 'a').flushHeaders(),
}

/** What the steps threw, and what the reply says of its headers. */
function taken(response: ServerResponse, step: (response: ServerResponse) => unknown): unknown {
  let thrown: unknown
  try {
    step(response)
  } catch (error) {
    thrown = (error as Error & { code: string }).code
  }
  const names = response.getHeaderNames()
  const values = names.map((name) => [response.getHeader(name.toUpperCase()), response.hasHeader(name.toUpperCase())])
  return { thrown, names, values, all: { ...response.getHeaders() }, other: response.getHeader('x-other') ?? null }
}

describe('the head of a reply', () => {
  const servers: Server[] = []

  afterEach(async () => {
    for (const server of servers.splice(0)) await server[Symbol.asyncDispose]()
  })

  /** What a client gets, but for the time, and what `taken` says. */
  async function replied(make: (listener: RequestListener) => Server, step: (response: ServerResponse) => unknown) {
    let told: unknown
    const server = make((_, response) => {
      told = taken(response, step)
      response.end('Hello')
    })
    servers.push(server)
    const connection = await rawConnection(await listen(server, { host: '127.0.0.1', port: 0 }))
    connection.write('GET / HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n')
    await connection.closed
    return { told, text: connection.rest.replace(/^Date: .*$/m, 'Date') }
  }

  for (const [what, step] of Object.entries(STEPS))
    it(`is as Node has it: ${what}`, async () => {
      const own = await replied((listener) => createHttpServer(listener, options), step)
      expect(own).to.deep.equal(await replied(createServer, step))
    })
})
