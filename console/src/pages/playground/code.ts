import { KEY_OR_FAIL } from '../connect/key-variable.ts'

/** Languages in which a request can be copied. */
export const LANGUAGES = ['curl', 'Node.js', 'Python'] as const

/** A language. */
export type Language = (typeof LANGUAGES)[number]

/** The request as code that does the same; the key comes from the environment. */
export function codeFor(language: Language, baseUrl: string, body: Readonly<Record<string, unknown>>): string {
  return WRITERS[language](baseUrl, body)
}

const WRITERS: Readonly<Record<Language, (baseUrl: string, body: Readonly<Record<string, unknown>>) => string>> = {
  curl: (baseUrl, body) =>
    [
      `curl ${baseUrl}/chat/completions${body.stream === true ? ' --no-buffer' : ''} \\`,
      `  -H "authorization: Bearer ${KEY_OR_FAIL}" \\`,
      `  -H 'content-type: application/json' \\`,
      `  -d ${quoted(JSON.stringify(body, null, 2))}`,
    ].join('\n'),
  'Node.js': (baseUrl, body) =>
    [
      `import OpenAI from 'openai'`,
      '',
      `const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: process.env.UMG_API_KEY })`,
      '',
      `const ${body.stream === true ? 'stream' : 'reply'} = await client.chat.completions.create(${JSON.stringify(body, null, 2)})`,
      ...(body.stream === true
        ? ['for await (const chunk of stream) {', `  process.stdout.write(chunk.choices[0]?.delta.content ?? '')`, '}']
        : ['console.log(reply.choices[0].message.content)']),
    ].join('\n'),
  Python: (baseUrl, body) =>
    [
      'import os',
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url="${baseUrl}", api_key=os.environ["UMG_API_KEY"])`,
      '',
      `${body.stream === true ? 'stream' : 'reply'} = client.chat.completions.create(`,
      ...Object.entries(body).map(([name, value]) => `    ${name}=${pythonic(value)},`),
      ')',
      ...(body.stream === true
        ? [
            'for chunk in stream:',
            '    if chunk.choices:',
            '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
          ]
        : ['print(reply.choices[0].message.content)']),
    ].join('\n'),
}

/** Quotes a text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Converts JSON to Python, where only true, false and null differ. */
function pythonic(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonic).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, inner]) => `${JSON.stringify(name)}: ${pythonic(inner)}`)
      .join(', ')}}`
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : JSON.stringify(value)
}
