import { AGENTS_SDK } from './agents-sdk.ts'
import { AI_SDKS } from './ai-sdk.ts'
import { ANTHROPIC_SDKS } from './anthropic-sdk.ts'
import type { Client } from './client.ts'
import { LANGCHAIN } from './langchain.ts'
import { OPENAI_SDKS } from './openai-sdk.ts'
import { PYTHON_SDKS } from './python-clients.ts'

/** The clients that are libraries, a row for each protocol that they speak. */
export const CLIENTS: readonly Client[] = [
  ...OPENAI_SDKS,
  ...PYTHON_SDKS,
  ...AGENTS_SDK,
  ...AI_SDKS,
  ...LANGCHAIN,
  ...ANTHROPIC_SDKS,
]
