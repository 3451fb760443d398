import { isRecord } from '../../sdk/json.ts'
import type { RepliedCall } from '../client-protocol.ts'
import type { Echo } from './wire.ts'

/** What a reply repeats of its request. Instructions and tools of a large request are left out: its reply would be large too. */
export function echoOf(call: RepliedCall): Echo {
  const of = (name: string, otherwise: unknown = null): unknown => call.member(name) ?? otherwise
  return {
    instructions: call.large ? null : of('instructions'),
    max_output_tokens: of('max_output_tokens'),
    max_tool_calls: of('max_tool_calls'),
    metadata: of('metadata', {}),
    parallel_tool_calls: of('parallel_tool_calls', true),
    prompt_cache_key: of('prompt_cache_key'),
    reasoning: { effort: null, summary: null, ...membersOf(of('reasoning')) },
    safety_identifier: of('safety_identifier'),
    temperature: of('temperature'),
    text: { format: { type: 'text' }, ...membersOf(of('text')) },
    tool_choice: of('tool_choice', 'auto'),
    tools: call.large ? [] : of('tools', []),
    top_logprobs: of('top_logprobs', 0),
    top_p: of('top_p'),
    truncation: 'disabled',
    user: of('user'),
  }
}

const membersOf = (value: unknown): object => (isRecord(value) ? value : {})
