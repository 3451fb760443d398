import { defineCallFunction, isRecord } from 'unified-model-gateway/plugin'

/** The items that refer to reasoning by their ids (github.com/continuedev/continue, issue 10018): without ids they stand alone. */
const REFERRING: readonly unknown[] = ['message', 'function_call', 'custom_tool_call']

/** A client's request of the Responses API without the reasoning of earlier turns, which its upstream cannot read. */
export const withoutReasoning = defineCallFunction(
  import.meta.url,
  'withoutReasoning',
  (call, { model }: { readonly model: string }): Uint8Array => {
    const input = call.member('input')
    return call.splice({ model, ...(Array.isArray(input) && { input: input.flatMap(withoutReference) }) })
  },
)

function withoutReference(item: unknown): readonly unknown[] {
  if (!isRecord(item)) return [item]
  if (item.type === 'reasoning') return []
  if (!REFERRING.includes(item.type)) return [item]
  const { id: _, ...rest } = item
  return [rest]
}
