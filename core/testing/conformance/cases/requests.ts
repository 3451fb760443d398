import { operationOf, tableFor } from '../../../routing/operation.ts'
import type { EndpointName } from '../../../sdk/api.ts'
import type { Asked } from '../../translator/run-translator.ts'
import { json } from '../../upstream/replies.ts'
import type { ReceivedRequest } from '../../upstream/scripted-upstream.ts'
import { CHAT_PARAMETERS, INNER_PARAMETERS, STRUCTURE } from '../chat-parameters.ts'
import { ALL_PARAMETERS, CHAT_REQUESTS, ENDPOINT_FORMS, ENDPOINT_REQUESTS } from '../client-requests.ts'
import { NAMESPACE, type Suite } from '../harness.ts'
import { isAbsent, type RequestsFixture } from '../provider-under-test.ts'
import { RequestFile, show } from '../request-file.ts'
import { request } from '../requests.ts'
import { streamBody, streamScript, wholeScript } from '../scripts.ts'
import { secondTurn } from './tools.ts'

/** Cases for what the provider sends: exactly the requests of the fixture's file. */
export function describeRequests(suite: Suite): void {
  const { requests } = suite.subject
  if (isAbsent(requests)) return

  describe('sends the upstream', () => {
    let file: RequestFile
    before(() => {
      file = new RequestFile(requests.file)
    })

    const expectChats = async (asked: Readonly<Record<string, Asked>>) => {
      for (const [title, fields] of Object.entries(asked)) file.expect(title, await sentForChat(suite, requests, fields))
    }
    it('the chat requests of its file', () => expectChats({ ...CHAT_REQUESTS, ...requests.asked }))
    it('the turn of its file after reasoning', () => expectSecondTurn(suite, requests, file))
    it('the parameters of its file', () => expectChats(parametersOf(suite)))
    it('the requests of its file to other endpoints', () => expectEndpoints(suite, requests, file))
    it('the requests of its file for the list of models', () => expectListing(suite, requests, file))
    it('no others', () => file.finish())
  })
}

/** Sends a chat completion request. Resolves to the upstream request, or to the refusal. */
async function sentForChat(suite: Suite, requests: RequestsFixture, fields: Asked): Promise<string> {
  const { subject, harness } = suite
  const { text } = subject.scenarios
  harness.answer(fields.stream === true ? streamScript(subject, streamBody(text)) : wholeScript(text))
  return sentBy(suite, requests, () => harness.post(request(subject.model, { ...text.asked, ...fields })))
}

async function sentBy({ harness }: Suite, { headers }: RequestsFixture, post: () => Promise<Response>): Promise<string> {
  const before = harness.received.length
  const reply = await post()
  const body = await reply.text()
  const sent = harness.received.slice(before).map((received) => show(received, headers?.(received)))
  const dropped = reply.headers.get('x-umg-params-dropped')
  if (dropped !== null) sent.unshift(`# dropped: ${dropped}`)
  return sent.length > 0 ? sent.join('\n') : `# not sent: ${reply.status} ${refusalOf(body)}`
}

function refusalOf(body: string): string {
  const { error } = JSON.parse(body)
  return `${error.code}, ${error.param}`
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
  if (table === 'verbatim') return { 'all parameters': ALL_PARAMETERS }
  const inner = Object.entries(INNER_PARAMETERS).map(([name, asked]) => [name, asked.with] as const)
  const asks: Readonly<Record<string, Asked>> = { ...CHAT_PARAMETERS, ...Object.fromEntries(inner), ...subject.parameters }
  const mapped = Object.keys(table).filter((name) => table[name]?.support === 'mapped' && !STRUCTURE.has(name))
  return Object.fromEntries(mapped.map((name) => [`the parameter ${name}`, asks[name] ?? {}]))
}

async function expectEndpoints(suite: Suite, requests: RequestsFixture, file: RequestFile): Promise<void> {
  const { subject, harness } = suite
  const served = (name: string): boolean => operationOf(harness.provider, name as EndpointName, subject.model) !== undefined
  const path = (name: string): string => `/v1/${name.replaceAll('.', '/')}`
  const model = `${NAMESPACE}/${subject.model}`
  const { embeddings } = subject
  if (embeddings !== undefined && !isAbsent(embeddings)) {
    if (embeddings.whole !== undefined) {
      harness.answer(
        wholeScript({ whole: embeddings.whole, says: {} }, { ...(embeddings.headers && { headers: embeddings.headers }) }),
      )
    }
    const asked = {
      input: embeddings.input,
      ...embeddings.asked,
      model: `${NAMESPACE}/${embeddings.asked?.model ?? subject.model}`,
    }
    const each = { 'of one text': { input: 'Hello' }, 'of 256 dimensions': { dimensions: 256 }, ...embeddings.parameters }
    for (const [title, fields] of Object.entries({ 'of a list': {}, ...each })) {
      const post = () => harness.post({ ...asked, ...fields }, { path: '/v1/embeddings' })
      file.expect(`embeddings ${title}`, await sentBy(suite, requests, post))
    }
  }
  harness.answer(json({}))
  for (const [name, fields] of Object.entries(ENDPOINT_REQUESTS).filter(([name]) => served(name))) {
    file.expect(name, await sentBy(suite, requests, () => harness.post({ model, ...fields }, { path: path(name) })))
  }
  for (const [name, fields] of Object.entries(ENDPOINT_FORMS).filter(([name]) => served(name))) {
    const form = new FormData()
    for (const [field, value] of Object.entries({ model, ...fields })) form.set(field, value)
    file.expect(name, await sentBy(suite, requests, () => harness.post(form, { path: path(name) })))
  }
}

/** The provider's own requests for the list, in the order of their paths: they may be sent at once. */
async function expectListing({ subject, harness }: Suite, { headers }: RequestsFixture, file: RequestFile): Promise<void> {
  const { provider, upstream } = harness
  if (provider.models === undefined) return
  const before = upstream.requests.length
  await provider.models(AbortSignal.timeout(10_000))
  const listing = upstream.requests.slice(before).filter((received) => subject.besides?.(received) === undefined)
  const sent = listing.map((received: ReceivedRequest) => show(received, headers?.(received))).sort()
  file.expect('the list of models', sent.join('\n\n'))
}
