import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Model } from 'unified-model-gateway/plugin'
import { createProvider } from './provider.ts'

describe('openai-compatible: the models of an upstream', () => {
  let server: Server
  let seen: IncomingMessage | undefined

  async function upstream(answer: RequestListener): Promise<string> {
    server = createServer((request, response) => {
      seen = request
      answer(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  }

  afterEach(async () => {
    server?.closeAllConnections()
    await server?.[Symbol.asyncDispose]()
  })

  const list = (baseUrl: string, signal = new AbortController().signal): Promise<readonly Model[]> =>
    createProvider({ baseUrl, apiKey: 'sk-upstream', headers: { 'x-team': 'a' } }).models!(signal)

  const answering = (body: unknown, status = 200): RequestListener => {
    return (_, response) => response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  }

  async function failure(promise: Promise<unknown>): Promise<Error> {
    try {
      await promise
    } catch (error) {
      return error as Error
    }
    throw new Error('it did not fail')
  }

  it('are requested with the key and the configured headers', async () => {
    const data = [
      { id: 'a', object: 'model', created: 1687882411, owned_by: 'openai', permission: [] },
      { id: 'meta/llama', context_window: 131072 },
      { id: 'qwen', max_model_len: 4096, created: -1, owned_by: null },
    ]
    expect(await list(await upstream(answering({ object: 'list', data })))).to.deep.equal([
      { id: 'a', created: 1687882411, owned_by: 'openai' },
      { id: 'meta/llama', context_length: 131072 },
      { id: 'qwen', context_length: 4096 },
    ])
    expect(seen!.method).to.equal('GET')
    expect(seen!.url).to.equal('/v1/models')
    expect(seen!.headers).to.include({ authorization: 'Bearer sk-upstream', 'x-team': 'a', accept: 'application/json' })
  })

  it('may be a bare array', async () => {
    expect(await list(await upstream(answering([{ id: 'a', context_length: 8192 }])))).to.deep.equal([
      { id: 'a', context_length: 8192 },
    ])
  })

  it('without a valid id are omitted', async () => {
    expect(await list(await upstream(answering({ data: [{ id: 7 }, null, 'a', { id: '' }, { id: 'b' }] })))).to.deep.equal([
      { id: 'b' },
    ])
  })

  it('that are refused are an error with the address and the status, without the key and the reply', async () => {
    const url = await upstream(answering({ error: { message: 'bad key sk-upstream' } }, 401))
    const { message } = await failure(list(url))
    expect(message).to.include(`GET ${url}/models: status 401`).and.not.include('sk-upstream')
  })

  for (const body of ['', '<html>', '{}', 'null', '7', '{"data":{}}']) {
    it(`cannot be '${body}'`, async () => {
      expect(await failure(list(await upstream(answering(body))))).to.be.an('error')
    })
  }

  it('are not requested at the target of a redirect', async () => {
    const hits: (string | undefined)[] = []
    const url = await upstream((request, response) => {
      hits.push(request.url)
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect((await failure(list(url))).message).to.include('302')
    expect(hits).to.deep.equal(['/v1/models'])
  })

  it('are no longer requested when the signal aborts', async () => {
    const controller = new AbortController()
    const closed = Promise.withResolvers<void>()
    const url = await upstream((_, response) => {
      response.on('close', closed.resolve)
      controller.abort()
    })
    expect(await failure(list(url, controller.signal))).to.be.an('error')
    await closed.promise
  })
})
