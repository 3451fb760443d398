import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { CHAT, MESSAGES, RESPONSES } from '../../bench/apis.ts'
import { createProcesses, type Processes } from '../../bench/processes.ts'
import { textOfStream } from '../../bench/replies.ts'
import { type ChatRequest, LONG_CHAT, SHORT_CHAT, writeRequest } from '../../bench/requests.ts'
import { startUpstream, TOOLS } from '../../bench/subjects.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { describeWith } from '../support/requirements.ts'

describeWith('compiler', 'the tools of the benchmark', () => {
  let scratch: string
  let processes: Processes
  let upstream: number
  let gateway: TestGateway

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'umg-bench-test-'))
    processes = createProcesses()
    await processes.run({ name: 'make', program: 'make', args: ['--silent', '-C', TOOLS] })
    upstream = await startUpstream({ processes, scratch, cores: undefined })
    gateway = await startTestGateway({
      routes: await readFile(new URL('../../bench/routes.yaml', import.meta.url), 'utf8'),
      env: { BENCH_UPSTREAM: `http://127.0.0.1:${upstream}/v1`, BENCH_API_KEY: 'sk-ant-bench' },
    })
  })

  after(async () => {
    await gateway?.stop()
    await processes?.[Symbol.asyncDispose]()
    if (scratch) await rm(scratch, { recursive: true })
  })

  /** Runs the load generator for a moment. Rejects where a request failed. */
  async function load(asked: Pick<ChatRequest, 'port' | 'path' | 'model'>): Promise<{ completed: number }> {
    const file = join(scratch, 'request')
    const stream = { events: 3, delayUs: 0 }
    writeRequest(file, { ...asked, key: 'none', messages: SHORT_CHAT, stream })
    const args = ['--port', String(asked.port), '--request', file, '--connections', '1', '--seconds', '0.05']
    return JSON.parse(await processes.run({ name: 'loadgen', program: join(TOOLS, '.build/loadgen'), args }))
  }

  for (const { path, model, namespace, unpaced } of [CHAT, MESSAGES, RESPONSES]) {
    it(`at ${path} the gateway finds the stream that was asked for, whole`, async () => {
      const stream = await gateway.openai().chat.completions.create({
        model: `${namespace}/${model}`,
        messages: [{ role: 'user', content: 'Hello' }],
        ...(!unpaced && { stop: 'bench;chunks=7;delay-us=0' }),
        stream: true,
        stream_options: { include_usage: true },
      })
      const chunks = await Array.fromAsync(stream)
      expect(chunks.filter(({ choices }) => choices[0]?.delta.content)).to.have.length(unpaced ? 100 : 7)
      expect(chunks.at(-1)!.usage).to.include({ prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 })
    })

    it(`at ${path} the load generator counts whole streams`, async () => {
      expect(await load({ port: upstream, path, model }))
        .to.have.property('completed')
        .above(0)
    })

    it(`at ${path} a model that is not the upstream’s ends the run: refusals are cheap`, async () => {
      const failure = await load({ port: upstream, path, model: 'another' }).catch(String)
      expect(failure).to.contain('answered with status 400').and.contain(model)
    })
  }

  it('the upstream finds model, stream and pace in front of long messages too, in JSON as Python writes it', async () => {
    const messages = JSON.stringify(LONG_CHAT)
    const reply = await fetch(`http://127.0.0.1:${upstream}${CHAT.path}`, {
      method: 'POST',
      body: `{"model": "${CHAT.model}", "stop": "bench;chunks=7;delay-us=0", "stream": true, "messages": ${messages}}`,
    })
    expect(textOfStream(await reply.text()).match(/ tok/g)).to.have.length(7)
  })

  /** Loads a server that answers each request with these pieces of a stream. Resolves to the error, if the run ends with one. */
  async function loadOf(...pieces: readonly string[]) {
    const server = createServer((request, response) => {
      request.resume()
      response.setHeader('content-type', 'text/event-stream')
      for (const piece of pieces) response.write(piece)
      response.end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    try {
      return await load({ port, path: MESSAGES.path, model: MESSAGES.model }).catch(String)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  for (const [name, ...pieces] of [
    ['of Messages', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['of Responses before its last event', 'event: response.created\ndata: {}\n\n'],
    ['of Responses in its last event', 'event: response.completed\ndata: {'],
  ] as const) {
    it(`a stream ${name} that ends early ends the run`, async () => {
      expect(await loadOf(...pieces)).to.contain('a stream ended without its end marker')
    })
  }

  it('the load generator knows the last event of Responses, wherever it is cut', async () => {
    const event = 'event: response.completed\ndata: {"response":{}}\n\n'
    for (const cut of [0, 3, 25, 26, event.length - 1]) {
      expect(await loadOf('event: response.created\ndata: {}\n\n', event.slice(0, cut), event.slice(cut)))
        .to.have.property('completed')
        .above(0)
    }
  })
})
