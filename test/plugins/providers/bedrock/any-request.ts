import fc from 'fast-check'
import { anyRequest } from '../../../support/any-request.ts'

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const pdf = (filename: string) => ({ type: 'file', file: { filename, file_data: 'data:application/pdf;base64,QUJD' } })
const marked = (text: string) => ({ type: 'text', text, prompt_cache_breakpoint: { mode: 'explicit' } })

const anySeal = fc.constantFrom(
  { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
  { reasoningContent: { redactedContent: 'QUJD' } },
)

/** A valid chat completion request for models of every kind. */
export const anyCall = anyRequest({
  models: [
    'global.anthropic.claude-haiku-4-5-20251001-v1:0',
    'us.anthropic.claude-sonnet-4-6',
    'us.anthropic.claude-opus-4-7',
    'us.anthropic.claude-opus-5-5',
    'anthropic.claude-3-haiku-20240307-v1:0',
    'us.amazon.nova-2-lite-v1:0',
    'us.meta.llama3-3-70b-instruct-v1:0',
    'mistral.mistral-large-2402-v1:0',
    'openai.gpt-oss-120b-1:0',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12cd34',
  ],
  parts: [
    ...['', ' ', 'Hello', 'Hello again'].map(marked),
    ...['a.pdf', 'A (1).pdf', '분기.pdf', ''].map(pdf),
    ...['data:image/png;base64,QUJD', 'data:image/jpeg;base64,QUJD', 'https://a/b.png'].map(image),
    { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
  ],
  thinkingState: fc.record({
    bedrock: fc.record({
      model: fc.constantFrom('us.anthropic.claude-opus-4-7', 'other'),
      reasoning: fc.array(anySeal, { maxLength: 2 }),
    }),
  }),
})
