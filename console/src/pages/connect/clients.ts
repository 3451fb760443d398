import { KEY_OR_FAIL, SET_KEY } from './key-variable.ts'

/** The values in a snippet. */
export interface Setting {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly model: string
}

/** A client, and how to configure it. */
export interface Client {
  /** In the URL of the page. */
  readonly id: string
  readonly name: string
  /** The command that installs it; absent if there is nothing to install. */
  readonly install?: string
  /** The command that sets the key that the snippet reads; absent if the snippet has a place for it. */
  readonly setKey?: string
  /** Where the snippet goes. */
  readonly where: string
  readonly snippet: (setting: Setting) => string
}

const curl: Client = {
  id: 'curl',
  name: 'curl',
  setKey: SET_KEY,
  where: 'In a terminal',
  snippet: ({ baseUrl, model }) => `curl ${baseUrl}/chat/completions \\
  -H "authorization: Bearer ${KEY_OR_FAIL}" \\
  -H 'content-type: application/json' \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
}

const node: Client = {
  id: 'node',
  name: 'OpenAI for Node.js',
  setKey: SET_KEY,
  install: 'npm install openai',
  where: 'In your code',
  snippet: ({ baseUrl, model }) => `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${baseUrl}',
  apiKey: process.env.UMG_API_KEY,
})

const reply = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(reply.choices[0].message.content)`,
}

const python: Client = {
  id: 'python',
  name: 'OpenAI for Python',
  setKey: SET_KEY,
  install: 'pip install openai',
  where: 'In your code',
  snippet: ({ baseUrl, model }) => `import os
from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}",
    api_key=os.environ["UMG_API_KEY"],
)

reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(reply.choices[0].message.content)`,
}

const aiSdk: Client = {
  id: 'ai-sdk',
  name: 'Vercel AI SDK',
  setKey: SET_KEY,
  install: 'npm install ai @ai-sdk/openai-compatible',
  where: 'In your code',
  snippet: ({ baseUrl, model }) => `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const gateway = createOpenAICompatible({
  name: 'gateway',
  baseURL: '${baseUrl}',
  apiKey: process.env.UMG_API_KEY,
  includeUsage: true,
})

const { text } = await generateText({
  model: gateway('${model}'),
  prompt: 'Hello!',
})
console.log(text)`,
}

const langchain: Client = {
  id: 'langchain',
  name: 'LangChain for Python',
  setKey: SET_KEY,
  install: 'pip install langchain-openai',
  where: 'In your code',
  snippet: ({ baseUrl, model }) => `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    base_url="${baseUrl}",
    api_key=os.environ["UMG_API_KEY"],
    model="${model}",
)
print(model.invoke("Hello!").content)`,
}

const langchainJs: Client = {
  id: 'langchain-js',
  name: 'LangChain for Node.js',
  setKey: SET_KEY,
  install: 'npm install @langchain/openai @langchain/core',
  where: 'In your code',
  snippet: ({ baseUrl, model }) => `import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: '${model}',
  apiKey: process.env.UMG_API_KEY,
  configuration: { baseURL: '${baseUrl}' },
})
const reply = await model.invoke('Hello!')
console.log(reply.content)`,
}

const anthropic: Client = {
  id: 'anthropic',
  name: 'Anthropic for Python',
  setKey: SET_KEY,
  install: 'pip install anthropic',
  where: 'In your code; this base URL has no /v1, which the SDK adds',
  snippet: ({ baseUrl, model }) => `import os
from anthropic import Anthropic

client = Anthropic(
    base_url="${rootOf(baseUrl)}",
    api_key=os.environ["UMG_API_KEY"],
)

reply = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(reply.content[0].text)`,
}

const anthropicNode: Client = {
  id: 'anthropic-node',
  name: 'Anthropic for Node.js',
  setKey: SET_KEY,
  install: 'npm install @anthropic-ai/sdk',
  where: 'In your code; this base URL has no /v1, which the SDK adds',
  snippet: ({ baseUrl, model }) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '${rootOf(baseUrl)}',
  apiKey: process.env.UMG_API_KEY,
})

const reply = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(reply.content[0].text)`,
}

const claudeCode: Client = {
  id: 'claude-code',
  name: 'Claude Code',
  setKey: SET_KEY,
  install: 'npm install -g @anthropic-ai/claude-code',
  where: 'In a terminal; this base URL has no /v1, which Claude Code adds',
  snippet: ({ baseUrl, model }) => `export ANTHROPIC_BASE_URL=${rootOf(baseUrl)}
export ANTHROPIC_AUTH_TOKEN="${KEY_OR_FAIL}"
export ANTHROPIC_MODEL=${model} ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}
claude`,
}

const codex: Client = {
  id: 'codex',
  name: 'Codex',
  setKey: SET_KEY,
  install: 'npm install -g @openai/codex',
  where: 'In ~/.codex/config.toml',
  snippet: ({ baseUrl, model }) => `model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "Gateway"
base_url = "${baseUrl}"
env_key = "UMG_API_KEY"
wire_api = "responses"`,
}

/** A base URL without `/v1`: clients of the Messages API add it. */
const rootOf = (baseUrl: string): string => baseUrl.replace(/\/v1$/, '')

const continueDev: Client = {
  id: 'continue',
  name: 'Continue',
  where: 'In ~/.continue/config.yaml',
  snippet: ({ baseUrl, model }) => `name: Model Gateway
version: 1.0.0
schema: v1
models:
  - name: ${model}
    provider: openai
    model: ${model}
    apiBase: ${baseUrl}
    apiKey: sk-live-…
    roles: [chat, edit, apply]`,
}

const openWebUi: Client = {
  id: 'open-webui',
  name: 'Open WebUI',
  setKey: SET_KEY,
  where: 'In a terminal; in a running instance: Admin Panel, Settings, Connections, OpenAI API',
  snippet: ({ baseUrl }) => `docker run -d ${isLocal(baseUrl) ? LOCAL_NETWORK : '-p 3000:8080'} \\
  -e OPENAI_API_BASE_URL=${baseUrl} \\
  -e OPENAI_API_KEY="${KEY_OR_FAIL}" \\
  -v open-webui:/app/backend/data \\
  --name open-webui ghcr.io/open-webui/open-webui:main`,
}

/** Within a container, 127.0.0.1 is the container itself, unless it has the network of its host. */
const LOCAL_NETWORK = '--network host -e PORT=3000'

const isLocal = (url: string): boolean => /^(?:localhost|127\.|\[::1\]$)/.test(new URL(url).hostname)

const other: Client = {
  id: 'other',
  name: 'Other clients',
  setKey: SET_KEY,
  where: 'Every official OpenAI SDK reads these variables; set for one program, they leave your own OpenAI key alone',
  snippet: ({ baseUrl }) => `OPENAI_BASE_URL=${baseUrl} OPENAI_API_KEY="${KEY_OR_FAIL}" your-program`,
}

/** Common clients, the simplest first. */
export const CLIENTS: readonly Client[] = [
  curl,
  node,
  python,
  anthropic,
  anthropicNode,
  claudeCode,
  codex,
  aiSdk,
  langchain,
  langchainJs,
  continueDev,
  openWebUi,
  other,
]
