import { SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useSignedIn } from '../../api/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SET_KEY } from '../connect/key-variable.ts'
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
      <div>
        <Text size="sm" c="dimmed" mb={6}>
          Set your key in the terminal, in place of sk-live-…
        </Text>
        <CodeBlock what="key command" text={SET_KEY} />
      </div>
      <CodeBlock what={`${language} code`} text={codeFor(language, gateway.base_url, body)} maxHeight={560} />
    </Stack>
  )
}
