import { ModelSelect } from './model-select.tsx'
import { useDebouncedText } from './use-debounced-text.ts'

/** Filters a list by a whole model id. */
export function ModelFilter({ value, onChange }: { readonly value: string; readonly onChange: (model: string) => void }) {
  const [text, change] = useDebouncedText(value, onChange)
  return <ModelSelect placeholder="Any model" w={{ base: '100%', xs: 200 }} value={text} onChange={change} />
}
