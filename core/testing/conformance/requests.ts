import type { SaidTool } from '../said.ts'
import type { Asked } from '../translator/run-translator.ts'
import { NAMESPACE } from './fixture.ts'
import type { ReplyFixture, Scenarios } from './scenarios.ts'

/** A PNG of one pixel. */
export const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

/** The fields that a scenario's request has beside a prompt. */
const OWN: Readonly<Partial<Record<keyof Scenarios, Asked>>> = {
  reasoning: { reasoning_effort: 'low' },
  reasoningBeforeTools: { reasoning_effort: 'low' },
  image: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } },
        ],
      },
    ],
  },
}

/** A request of this model. `asked` may name another one. */
export function request(model: string, asked: Asked = {}) {
  return {
    messages: [{ role: 'user' as const, content: 'Hello' }],
    ...asked,
    model: `${NAMESPACE}/${asked.model ?? model}`,
  }
}

/** The request that a scenario's reply answers. */
export function requestOf(model: string, name: keyof Scenarios, { asked, says }: ReplyFixture) {
  const tools = says.tools && { tools: toolsOf(says.tools) }
  return request(model, { ...OWN[name], ...tools, ...asked })
}

/** Tools that take these arguments. */
export function toolsOf(said: readonly SaidTool[]) {
  const byName = new Map(said.map((tool) => [tool.name, tool]))
  return [...byName.values()].map(({ name, arguments: values }) => ({
    type: 'function' as const,
    function: { name, description: `Does ${name}.`, parameters: schemaOf(values) },
  }))
}

function schemaOf(values: SaidTool['arguments']) {
  const properties = Object.entries(values).map(([name, value]) => [name, { type: typeOf(value) }])
  return { type: 'object', properties: Object.fromEntries(properties) }
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
}
