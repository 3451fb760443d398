import type { BetaToolUnion } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type { ToolUnion } from '@anthropic-ai/sdk/resources/messages'
import { expect } from 'chai'
import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import type { Tool } from 'openai/resources/responses/responses'
import { hostedTools } from '../../../core/protocol/hosted-tools.ts'

type Runner = 'client' | 'vendor'

/** Who runs each type of tool that the vendors publish: a new one breaks the check of types until it is here. */
const OPENAI = {
  function: 'client',
  custom: 'client',
  namespace: 'client',
  tool_search: 'client',
  local_shell: 'client',
  apply_patch: 'client',
  computer: 'client',
  computer_use_preview: 'client',
  shell: 'vendor',
  code_interpreter: 'vendor',
  file_search: 'vendor',
  image_generation: 'vendor',
  mcp: 'vendor',
  programmatic_tool_calling: 'vendor',
  web_search: 'vendor',
  web_search_2025_08_26: 'vendor',
  web_search_preview: 'vendor',
  web_search_preview_2025_03_11: 'vendor',
} satisfies Record<Tool['type'] | ChatCompletionTool['type'], Runner>

const ANTHROPIC = {
  custom: 'client',
  bash_20241022: 'client',
  bash_20250124: 'client',
  text_editor_20241022: 'client',
  text_editor_20250124: 'client',
  text_editor_20250429: 'client',
  text_editor_20250728: 'client',
  computer_20241022: 'client',
  computer_20250124: 'client',
  computer_20251124: 'client',
  computer_toolset_20260801: 'client',
  browser_toolset_20260801: 'client',
  memory_20250818: 'client',
  tool_search_tool_bm25: 'client',
  tool_search_tool_bm25_20251119: 'client',
  tool_search_tool_regex: 'client',
  tool_search_tool_regex_20251119: 'client',
  advisor_20260301: 'vendor',
  code_execution_20250522: 'vendor',
  code_execution_20250825: 'vendor',
  code_execution_20260120: 'vendor',
  code_execution_20260521: 'vendor',
  mcp_toolset: 'vendor',
  web_fetch_20250910: 'vendor',
  web_fetch_20260209: 'vendor',
  web_fetch_20260309: 'vendor',
  web_fetch_20260318: 'vendor',
  web_search_20250305: 'vendor',
  web_search_20260209: 'vendor',
  web_search_20260318: 'vendor',
} satisfies Record<NonNullable<BetaToolUnion['type'] | ToolUnion['type']>, Runner>

const hostedIn = (tools: readonly object[]): readonly string[] =>
  hostedTools.run({ keys: ['tools'], member: () => tools } as never, undefined) as readonly string[]

describe('the tools that a vendor runs', () => {
  for (const [vendor, types] of Object.entries({ OpenAI: OPENAI, Anthropic: ANTHROPIC }))
    it(`are known of all types that ${vendor} publishes`, () => {
      const hosted = Object.keys(types).filter((type) => hostedIn([{ type, name: 't' }]).length > 0)
      expect(hosted).to.have.members(Object.entries(types).flatMap(([type, by]) => (by === 'vendor' ? [type] : [])))
    })

  it('are a shell in its containers, and not one that the client runs', () => {
    const shellIn = (environment?: unknown) => hostedIn([{ type: 'shell', ...(environment !== undefined && { environment }) }])
    expect(shellIn({ type: 'local', skills: [] })).to.deep.equal([])
    for (const environment of [
      undefined,
      null,
      'local',
      {},
      { type: 'container_auto' },
      { type: 'container_reference' },
      { type: ['local'] },
    ])
      expect(shellIn(environment), JSON.stringify(environment)).to.deep.equal(['shell'])
  })
})
