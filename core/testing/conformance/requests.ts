import type { Asked } from '../translator/run-translator.ts'
import type { SaidTool } from '../upstream/openai-reply.ts'
import { NAMESPACE } from './harness.ts'
import type { ReplyFixture, Scenarios } from './provider-under-test.ts'

/** A PNG of one pixel. */
export const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

const IMAGE_BYTES = Buffer.from(IMAGE, 'base64')

/** Whether one of the requests has the image, as text or as bytes. */
export const haveImage = (requests: readonly { readonly body: Buffer }[]): boolean =>
  requests.some(({ body }) => body.includes(IMAGE) || body.includes(IMAGE_BYTES))

/** The fields of a scenario's request besides its prompt. */
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

/** A request for this model, unless `asked` names another one. */
export function request(model: string, asked: Asked = {}) {
  return {
    messages: [{ role: 'user' as const, content: 'Hello' }],
    ...asked,
    model: `${NAMESPACE}/${asked.model ?? model}`,
  }
}

/** The request of a scenario. */
export function requestOf(model: string, name: keyof Scenarios, { asked, says }: ReplyFixture) {
  const tools = says.tools && { tools: toolsOf(says.tools) }
  return request(model, { ...OWN[name], ...tools, ...asked })
}

/** Definitions of tools that take these arguments. */
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
