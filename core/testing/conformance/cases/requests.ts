import { Handlers, tableFor } from '../../../routing/handler.ts'
import { ENDPOINT_REQUESTS, type OtherEndpoint } from '../../gateway/endpoint-requests.ts'
import type { Asked } from '../../translator/run-translator.ts'
import { CHAT_PARAMETERS, FUNCTION_PARAMETERS, INNER_PARAMETERS, OTHER_PARAMETERS, STRUCTURE } from '../chat-parameters.ts'
import { CHAT_REQUESTS, parametersBut } from '../client-requests.ts'
import type { Suite } from '../harness.ts'
import { isAbsent, type RequestsFixture } from '../provider-under-test.ts'
import { RequestFile, show } from '../request-file.ts'
import { RequestRecorder } from '../request-recorder.ts'
import { secondTurn } from './tools.ts'

/** Cases for what the provider sends: exactly the requests of the fixture's file. */
export function describeRequests(suite: Suite): void {
  const { requests } = suite.subject
  if (isAbsent(requests)) return
  const { asked, endpoints = {}, configured = {} } = requests

  describe('sends the upstream', () => {
    let file: RequestFile
    let recorder: RequestRecorder
    before(() => {
      file = new RequestFile(requests.file)
      recorder = new RequestRecorder(suite, requests, file)
    })

    it('the chat requests of its file', () => recorder.calls({ asked: { ...CHAT_REQUESTS, ...asked } }))
    it('the turn of its file after reasoning', () => expectSecondTurn(suite, requests, file))
    it('the parameters of its file', () => recorder.calls({ asked: parametersOf(suite) }))
    it('the requests of its file to other endpoints', async () => {
      await recordEndpoints(suite, recorder)
      await recorder.calls({ endpoints })
    })
    it('its own requests of its file', () => recorder.ownRequests())
    for (const [title, calls] of Object.entries(configured)) {
      it(`the requests of its file ${title}`, () => recorder.configured(title, calls))
    }
    it('no others', () => file.finish())
  })
}

/** The call ids may be new in each run. */
async function expectSecondTurn(suite: Suite, { headers }: RequestsFixture, file: RequestFile): Promise<void> {
  const { reasoningBeforeTools } = suite.subject.scenarios
  if (isAbsent(reasoningBeforeTools)) return
  for (const stream of [false, true]) {
    const { sent, ids } = await secondTurn(suite, reasoningBeforeTools, stream)
    const shown = ids.reduce((text, id, index) => text.replaceAll(id, `CALL-${index}`), show(sent, headers?.(sent)))
    file.expect(`the result of a tool, after reasoning${stream ? ' in a stream' : ''}`, shown)
  }
}

/** The mapped parameters, each in a request of its own; all in one if the provider passes them on. */
function parametersOf({ subject, harness }: Suite): Readonly<Record<string, Asked>> {
  const table = tableFor(harness.provider, subject.model)
  if (table === 'verbatim') return { 'all parameters': parametersBut(subject.refused ?? []) }
  const inner = Object.entries(INNER_PARAMETERS).map(([name, asked]) => [name, asked.with] as const)
  const asks: Readonly<Record<string, Asked>> = {
    ...CHAT_PARAMETERS,
    ...FUNCTION_PARAMETERS,
    ...OTHER_PARAMETERS,
    ...Object.fromEntries(inner),
    ...subject.parameters,
  }
  const mapped = Object.keys(table).filter((name) => table[name]?.support === 'mapped' && !STRUCTURE.has(name))
  return Object.fromEntries(mapped.map((name) => [`the parameter ${name}`, asks[name] ?? {}]))
}

/** Requests to all that serve the subject's model; for embeddings to the fixture's own model. */
async function recordEndpoints({ subject, harness }: Suite, recorder: RequestRecorder): Promise<void> {
  const { embeddings } = subject
  if (embeddings !== undefined && !isAbsent(embeddings)) {
    const each = {
      'of a list': {},
      'of one text': { input: 'Hello' },
      'of 256 dimensions': { dimensions: 256 },
      'in base64': { encoding_format: 'base64' },
      ...embeddings.parameters,
    }
    for (const [title, fields] of Object.entries(each)) {
      await recorder.endpoint('embeddings', `embeddings ${title}`, fields)
    }
  }
  for (const name of Object.keys(ENDPOINT_REQUESTS) as OtherEndpoint[]) {
    const served = new Handlers(harness.provider).of(name, subject.model) !== undefined
    if (served && name !== 'embeddings') await recorder.endpoint(name, name)
  }
}
