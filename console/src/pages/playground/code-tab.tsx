import { SegmentedControl, Stack } from '@mantine/core'
import { useState } from 'react'
import { useSignedIn } from '../../api/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { codeFor, LANGUAGES, type Language } from './code.ts'

/** The request as code to copy, without the key. */
export function CodeTab({ body }: { readonly body: Readonly<Record<string, unknown>> }) {
  const { gateway } = useSignedIn()
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <Stack align="stretch">
      <SegmentedControl
        aria-label="Language"
        data={[...LANGUAGES]}
        value={language}
        onChange={(value) => setLanguage(value as Language)}
        w="fit-content"
      />
      <CodeBlock what={`${language} code`} text={codeFor(language, gateway.base_url, body)} maxHeight={560} />
    </Stack>
  )
}
