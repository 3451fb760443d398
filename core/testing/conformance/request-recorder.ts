import { ConfigError } from '../../text/diagnostic.ts'
import { bodyOf, ENDPOINT_REQUESTS, type OtherEndpoint, pathOf } from '../gateway/endpoint-requests.ts'
import type { Asked } from '../translator/run-translator.ts'
import { json } from '../upstream/replies.ts'
import type { Script } from '../upstream/script.ts'
import type { FixedEndpoint } from './endpoint-fixtures.ts'
import { NAMESPACE, type Suite, startHarness } from './harness.ts'
import {
  type ConfiguredCalls,
  isAbsent,
  type MoreCalls,
  type ProviderUnderTest,
  type RequestsFixture,
} from './provider-under-test.ts'
import { type SentRequest, undoRedirect } from './redirect.ts'
import { type RequestFile, show } from './request-file.ts'
import { request } from './requests.ts'
import { streamBody, streamScript, wholeScript } from './scripts.ts'

/** Makes calls to one gateway, and compares the upstream requests that they lead to with a file. */
export class RequestRecorder {
  readonly #suite: Suite
  readonly #requests: RequestsFixture
  readonly #file: RequestFile
  readonly #configuration: string

  /** `configuration`: what the titles of all requests end with. */
  constructor(suite: Suite, requests: RequestsFixture, file: RequestFile, configuration = '') {
    this.#suite = suite
    this.#requests = requests
    this.#file = file
    this.#configuration = configuration
  }

  /** A chat completion request. */
  async chat(title: string, fields: Asked): Promise<void> {
    const { subject, harness } = this.#suite
    const { text } = subject.scenarios
    harness.answer(fields.stream === true ? streamScript(subject, streamBody(text)) : wholeScript(text))
    await this.#call(title, () => harness.post(request(subject.model, { ...text.asked, ...fields })))
  }

  /** A request to another endpoint. */
  async endpoint(name: OtherEndpoint, title: string, fields: Asked = {}): Promise<void> {
    const { subject, harness } = this.#suite
    const { asked: own, script } = ownCall(subject, name)
    harness.answer(script)
    const { model = subject.model, ...rest } = { ...own, ...fields }
    const asked = { model: `${NAMESPACE}/${model}`, ...rest }
    await this.#call(title, () => harness.post(bodyOf(asked), { path: pathOf(name) }))
  }

  /** The calls of a fixture. */
  async calls({ asked = {}, endpoints = {} }: MoreCalls): Promise<void> {
    for (const [title, fields] of Object.entries(asked)) await this.chat(title, fields)
    for (const [name, each] of Object.entries(endpoints)) {
      for (const [title, fields] of Object.entries(each)) await this.endpoint(name as OtherEndpoint, `${name} ${title}`, fields)
    }
  }

  /** The provider's own requests: for the list of models, and to check the credential. */
  async ownRequests(): Promise<void> {
    const { provider, answer } = this.#suite.harness
    answer(json({}))
    const signal = AbortSignal.timeout(10_000)
    if (provider.models) await this.#own('the list of models', () => provider.models!(signal))
    if (provider.check) await this.#own('the check of the credential', () => provider.check!(signal))
  }

  /** The requests of another configuration, or why it is refused. */
  async configured(title: string, { config, ...calls }: ConfiguredCalls): Promise<void> {
    const subject = { ...this.#suite.subject, config: () => config }
    const harness = await startHarness(subject).catch(refusalOfConfig)
    if (typeof harness === 'string') {
      this.#file.expect(`the configuration ${title}`, harness)
      return
    }
    try {
      const recorder = new RequestRecorder({ subject, harness }, this.#requests, this.#file, `, ${title}`)
      await recorder.chat('a text', {})
      await recorder.ownRequests()
      await recorder.calls(calls)
    } finally {
      await harness.stop()
    }
  }

  async #call(title: string, post: () => Promise<Response>): Promise<void> {
    const { received } = this.#suite.harness
    const before = received.length
    const reply = await post()
    const body = await reply.text()
    const sent = received.slice(before).map((one) => this.#show(one))
    const dropped = reply.headers.get('x-umg-params-dropped')
    const shown = sent.length > 0 ? sent.join('\n\n') : `# not sent: ${reply.status} ${refusalOf(body)}`
    this.#expect(title, dropped === null ? shown : `# dropped: ${dropped}\n${shown}`)
  }

  /** In the order of their paths: they may be sent at once. */
  async #own(title: string, send: () => Promise<unknown>): Promise<void> {
    const { subject, harness } = this.#suite
    const { requests } = harness.upstream
    const before = requests.length
    await send()
    const own = requests.slice(before).filter((received) => subject.besides?.(received) === undefined)
    const sent = own.map((received) => this.#show(undoRedirect(received))).sort()
    this.#expect(title, sent.join('\n\n'))
  }

  #expect(title: string, sent: string): void {
    this.#file.expect(title + this.#configuration, sent)
  }

  #show(sent: SentRequest): string {
    return show(sent, this.#requests.headers?.(sent))
  }
}

/** The suite's own request to an endpoint, and the upstream's reply. Without a fixture it is a refusal, after which nothing is sent again. */
function ownCall(
  { embeddings, endpoints }: ProviderUnderTest,
  name: OtherEndpoint,
): { readonly asked: Asked; readonly script: Script } {
  const asked = ENDPOINT_REQUESTS[name]
  if (name === 'embeddings' && embeddings !== undefined && !isAbsent(embeddings)) {
    const { whole = {}, headers = {}, input } = embeddings
    return { asked: { ...asked, input, ...embeddings.asked }, script: wholeScript({ whole, says: {} }, { headers }) }
  }
  const { asked: own, whole } = endpoints?.[name as FixedEndpoint] ?? {}
  const script = whole === undefined ? json({}, { status: 400 }) : wholeScript({ whole, says: {} })
  return { asked: { ...asked, ...own }, script }
}

function refusalOf(body: string): string {
  const { error } = JSON.parse(body)
  return `${error.code}, ${error.param}`
}

/** Without the place in the gateway's own file. */
function refusalOfConfig(error: unknown): string {
  if (!(error instanceof ConfigError)) throw error
  return error.diagnostics.map(({ message }) => `# refused: ${message}`).join('\n')
}
