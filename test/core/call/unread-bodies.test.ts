import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { readBody, UnreadBodies } from '../../../core/call/read-body.ts'
import { readForm } from '../../../core/call/read-form.ts'
import { listen } from '../../../core/http/listen.ts'

const CLIENTS = 3
/** Bytes. */
const BODY = 4 << 20
const REQUEST = Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY}\r\n\r\n${'x'.repeat(BODY)}`)

describe('Bodies of requests that are answered before they are read', () => {
  let server: Server
  let clients: Socket[]
  let requests: IncomingMessage[]
  let responses: ServerResponse[]

  beforeEach(async () => {
    requests = []
    responses = []
    server = createServer((request, response) => {
      requests.push(request)
      responses.push(response)
    })
    const { hostname, port } = new URL(await listen(server, { host: '127.0.0.1', port: 0 }))
    clients = Array.from({ length: CLIENTS }, () => connect(Number(port), hostname))
    for (const client of clients) client.write(REQUEST)
    while (requests.length < CLIENTS || requests.some(hasRoom)) await turn()
  })

  /** Whether more of the body can arrive before it is read. */
  const hasRoom = ({ readableLength, readableHighWaterMark }: IncomingMessage): boolean => readableLength < readableHighWaterMark

  afterEach(async () => {
    for (const client of clients ?? []) client.destroy()
    await server?.[Symbol.asyncDispose]()
  })

  it('are discarded one after the other', async () => {
    const unread = new UnreadBodies()
    for (const request of requests) unread.discard(request)
    await Promise.all(responses.map((response) => once(response.end(), 'finish')))
    while (!requests.every(({ complete }) => complete)) {
      const flowing = requests.filter(({ complete, readableFlowing }) => !complete && readableFlowing)
      expect(flowing).to.have.length.at.most(1)
      await turn()
    }
  })
})

describe('A body that is read after its client has left', () => {
  it('is refused, and takes no memory', async () => {
    const server = createServer()
    const { port } = new URL(await listen(server, { host: '127.0.0.1', port: 0 }))
    const client = connect(Number(port), '127.0.0.1')
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY}\r\n\r\n`)
    const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
    client.destroy()
    await once(response, 'close')
    const memory = { take: () => expect.fail('memory was taken') }
    request.headers['content-type'] = 'application/json'
    const body = await readBody(request, response, { max: BODY, memory }).catch((error: unknown) => error)
    expect(body).to.include({ row: 'request_timeout' })
    request.headers['content-type'] = 'multipart/form-data; boundary=x'
    const limits = { max: BODY, memory, disk: memory, folder: '' }
    const form = await readForm(request, response, limits).catch((error: unknown) => error)
    expect(form).to.include({ row: 'request_timeout' })
    server.close()
  })
})
