import assert from 'node:assert/strict'
import type { ChatCompletion } from '../../../sdk/api.ts'
import { gather } from '../../translator/gather.ts'
import { expectStreamed, expectWhole, readWire } from '../expect-reply.ts'
import type { Suite } from '../harness.ts'
import { isAbsent, present, type ReplyFixture, type Scenarios } from '../provider-under-test.ts'
import { haveImage, requestOf } from '../requests.ts'
import { streamBody, streamScript, wholeScript } from '../scripts.ts'
import { caught, itWithSdk } from '../sdk.ts'

const TITLES: Readonly<Record<keyof Scenarios, string>> = {
  text: 'a text',
  parallelTools: 'parallel tool calls',
  toolWithoutArguments: 'a tool call without arguments, as {}',
  textBeforeTools: 'a text before tool calls',
  reasoning: 'reasoning separate from the text',
  reasoningBeforeTools: 'reasoning before a tool call',
  refusal: 'a refusal',
  length: 'a reply that reached its maximum length',
  image: 'the answer to an image, which the upstream received',
  cachedUsage: 'the usage of a cached prompt',
}

/** Cases for the reply of each scenario, whole and streamed, as the SDK reads it. */
export function describeReplies(suite: Suite): void {
  const { subject } = suite

  describe('gives the official SDK', () => {
    for (const [name, fixture] of present(subject)) {
      itWithSdk(TITLES[name], () => expectWholeReply(suite, name, fixture))
      itWithSdk(`${TITLES[name]}, streamed`, () => expectStreamedReply(suite, name, fixture))
    }
    for (const [reason, fixture] of Object.entries(subject.finishes ?? {})) {
      itWithSdk(`the finish of ${reason}`, () => expectWholeReply(suite, 'text', fixture))
      itWithSdk(`the finish of ${reason}, streamed`, () => expectStreamedReply(suite, 'text', fixture))
    }

    itWithSdk('usage in a stream only if the request includes it', async () => {
      const { text } = subject.scenarios
      answerStream(suite, text)
      const reply = await suite.harness.post({ ...requestOf(subject.model, 'text', text), stream: true })
      readWire(await reply.text(), false)
    })

    if (isAbsent(subject.scenarios.image) && !subject.local) {
      itWithSdk('a 400 for an image that the upstream cannot read', () => expectImageRefused(suite))
    }
  })
}

async function expectWholeReply({ subject, harness }: Suite, name: keyof Scenarios, fixture: ReplyFixture): Promise<void> {
  if (!subject.local) harness.answer(wholeScript(fixture))
  const before = harness.received.length
  const request = requestOf(subject.model, name, fixture)
  const completion = (await harness.sdk.chat.completions.create(request)) as unknown as ChatCompletion
  expectWhole(completion, fixture.says)
  assert.equal(completion.object, 'chat.completion')
  assert.ok(Number.isSafeInteger(completion.created), 'a completion has its creation time in whole seconds')
  if (harness.isTranslated) assert.equal(completion.model, request.model, 'the model is the requested one')
  if (name === 'image' && !subject.local) {
    assert.ok(haveImage(harness.received.slice(before)), 'an upstream request contains the image')
  }
}

async function expectStreamedReply(suite: Suite, name: keyof Scenarios, fixture: ReplyFixture): Promise<void> {
  const { subject, harness } = suite
  const request = requestOf(subject.model, name, fixture)
  answerStream(suite, fixture)
  const reply = await harness.post({ ...request, stream: true, stream_options: { include_usage: true } })
  const text = await reply.text()
  assert.equal(reply.status, 200, text)
  const gathered = gather(readWire(text, true))
  expectStreamed(gathered, fixture.says)

  const { choices } = await harness.sdk.chat.completions.stream(request).finalChatCompletion()
  assert.equal(choices[0]!.message.content ?? '', gathered.choices[0]!.content, 'the SDK assembles the text')
  assert.equal(choices[0]!.finish_reason, gathered.choices[0]!.finish, 'the SDK reads the finish reason')
  assert.deepEqual(
    choices[0]!.message.tool_calls?.map((call) => call.type === 'function' && call.function.arguments) ?? [],
    gathered.choices[0]!.tools.map((tool) => tool.arguments),
    'the SDK assembles the tool calls',
  )
}

/** Without a translator, refusing is left to the upstream. */
async function expectImageRefused({ subject, harness }: Suite): Promise<void> {
  if (!harness.isTranslated) return
  const { text } = subject.scenarios
  harness.answer(wholeScript(text))
  const before = harness.received.length
  const { status } = await caught(harness.sdk.chat.completions.create(requestOf(subject.model, 'image', text)))
  assert.equal(status, 400)
  assert.equal(harness.received.length, before, 'nothing is sent')
}

function answerStream({ subject, harness }: Suite, fixture: ReplyFixture): void {
  if (!subject.local) harness.answer(streamScript(subject, streamBody(fixture)))
}
