import { execFileSync, spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { CLIENTS } from '../../console/src/pages/connect/clients.ts'
import { curlLine } from '../../console/src/pages/keys/curl-line.ts'
import { codeFor } from '../../console/src/pages/playground/code.ts'

const BODY = {
  model: 'acme/smart',
  messages: [{ role: 'user', content: `It's "quoted", $HOME \`date\` \\ and\nbroken` }],
  temperature: 0.5,
  stream: true,
  stream_options: { include_usage: true },
}

/** The arguments that a shell makes of a curl command. */
function argumentsOf(command: string): string[] {
  const script = command.replace(/^curl/, "printf '%s\\0'")
  const env = { PATH: process.env.PATH, UMG_API_KEY: 'sk-test' }
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env }).split('\0').slice(0, -1)
}

describe('code to copy in the console', () => {
  it('is a curl command with a correctly quoted body', () => {
    const given = argumentsOf(codeFor('curl', 'https://gateway.example/v1', BODY))
    expect(given).to.include('authorization: Bearer sk-test').and.include('https://gateway.example/v1/chat/completions')
    expect(JSON.parse(given.at(-1)!)).to.deep.equal(BODY)
  })

  // C11
  it('says which variable is missing, rather than send a request without a key', () => {
    const curl = CLIENTS[0]!.snippet({ baseUrl: 'https://gateway.example/v1', model: 'acme/smart' })
    for (const command of [curl, codeFor('curl', 'https://gateway.example/v1', BODY)]) {
      const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', env: { PATH: process.env.PATH } })
      expect(stderr).to.include('UMG_API_KEY: set it first: export UMG_API_KEY=sk-live-…')
      expect(status).to.not.equal(0)
    }
  })

  // C11
  it('leaves alone the variable that may hold a key of OpenAI', () => {
    const lines = CLIENTS.flatMap(({ setKey = '', snippet }) => [
      setKey,
      snippet({ baseUrl: 'https://gateway.example/v1', model: 'm' }),
    ])
    expect(lines.join('\n')).to.not.match(/export OPENAI_API_KEY|environ\["OPENAI|env\.OPENAI|\$OPENAI/)
  })

  // C11
  it('reaches a gateway of this machine from a container', () => {
    const openWebUi = CLIENTS.find(({ id }) => id === 'open-webui')!
    expect(openWebUi.snippet({ baseUrl: 'http://127.0.0.1:8080/v1', model: 'm' })).to.include('--network host')
    expect(openWebUi.snippet({ baseUrl: 'https://gateway.example/v1', model: 'm' })).to.not.include('--network')
  })

  it('is a curl command that works as pasted, for a new key', () => {
    const key = { kind: 'live', secret: 'sk-live-x' } as const
    const models = [
      {
        id: 'claude/asleep',
        namespace: 'claude',
        owned_by: 'claude',
        curated: false,
        price: null,
        priced: false,
        available: false,
      },
      { id: 'acme/smart', namespace: 'acme', owned_by: 'acme', curated: true, price: null, priced: false, available: true },
    ]
    const given = argumentsOf(curlLine('https://gateway.example/v1', key, models))
    expect(given).to.include('authorization: Bearer sk-live-x')
    expect(JSON.parse(given.at(-1)!).model).to.equal('acme/smart')
    const hello = { ...models[1]!, id: 'sandbox/hello', namespace: 'sandbox' }
    expect(curlLine('', { ...key, kind: 'test' }, [...models, hello])).to.include('sandbox/hello')
    expect(curlLine('', { ...key, kind: 'test' }, models), 'the sandbox answers for any model').to.include('acme/smart')
    expect(curlLine('', key, []), 'no model is known').to.include('namespace/model')
  })

  it('converts JSON to Python', () => {
    const code = codeFor('Python', 'https://gateway.example/v1', { model: 'm', stop: null, stream: true })
    expect(code).to.include('    stop=None,\n    stream=True,\n').and.include('for chunk in stream:')
  })

  it('prints the whole reply if it is not streamed', () => {
    const body = { model: 'm', messages: [] }
    expect(codeFor('Node.js', 'https://gateway.example/v1', body)).to.match(
      /console\.log\(reply\.choices\[0\]\.message\.content\)$/,
    )
    expect(codeFor('Python', 'https://gateway.example/v1', body)).to.match(/print\(reply\.choices\[0\]\.message\.content\)$/)
  })
})
