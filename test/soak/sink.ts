import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { anthropic } from '../e2e/sdk/anthropic-dialect.ts'
import { openai } from '../e2e/sdk/openai-dialect.ts'

/** An upstream in a thread of its own, which discards bodies and answers immediately: OpenAI's protocol and Anthropic's. */
export interface Sink extends AsyncDisposable {
  readonly origin: string
}

export async function startSink(): Promise<Sink> {
  const thread = new Worker(new URL(import.meta.url))
  const [port] = (await once(thread, 'message')) as [number]
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await thread.terminate()
    },
  }
}

if (!isMainThread) {
  const replies = new Map(
    [anthropic, openai].map((dialect) => [dialect.path, JSON.stringify(dialect.whole({ text: ['Hello!'] }))]),
  )
  const server = createServer((request, response) => {
    const headers = { 'content-type': 'application/json' }
    request.resume().on('end', () => response.writeHead(200, headers).end(replies.get(request.url!)))
  })
  server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
}
