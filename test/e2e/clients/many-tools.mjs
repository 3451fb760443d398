// A server of the Model Context Protocol (2025-06-18, over stdin and stdout) that has forty tools. Each says its name and its argument.
import { createInterface } from 'node:readline'

const tools = Array.from({ length: 40 }, (_, index) => ({
  name: `place_${index}`,
  description: `Tells about place number ${index}.`,
  inputSchema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
}))

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'many', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: { what } }) => ({ content: [{ type: 'text', text: `${name} says ${what}` }] }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined) continue
  const result = RESULTS[method]?.(params) ?? {}
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
