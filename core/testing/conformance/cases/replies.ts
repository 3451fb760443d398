import assert from 'node:assert/strict'
import type { ChatCompletion } from '../../../sdk/api.ts'
import { gather } from '../../translator/gather.ts'
import { expectStreamed, expectWhole, readWire } from '../expect-reply.ts'
import { IMAGE, requestOf } from '../requests.ts'
import { isAbsent, type ReplyFixture, type Scenarios } from '../scenarios.ts'
import { streamBody, streamScript, wholeScript } from '../scripts.ts'
import { caught } from '../sdk-error.ts'
import { itWithSdk, present, type Suite } from '../suite.ts'

const TITLES: Readonly<Record<keyof Scenarios, string>> = {
  text: 'a text',
  parallelTools: 'parallel tool calls',
  toolWithoutArguments: 'a tool call without arguments, as {}',
  textBeforeTools: 'a text before tool calls',
  reasoning: 'reasoning apart from the text',
  reasoningBeforeTools: 'reasoning before a tool call',
  refusal: 'a refusal',
  length: 'a reply that was ended for its length',
  image: 'the answer about an image, which its upstream got',
  cachedUsage: 'what a cached prompt cost',
}

/** What the SDK reads of each scenario, whole and streamed. */
export function describeReplies(suite: Suite): void {
  const { subject } = suite

  describe('gives the official SDK', () => {
    for (const [name, fixture] of present(subject)) {
      itWithSdk(`${TITLES[name]}`, () => expectWholeReply(suite, name, fixture))
      itWithSdk(`${TITLES[name]}, streamed`, () => expectStreamedReply(suite, name, fixture))
    }

    itWithSdk('usage in a stream only where it is asked for', async () => {
      const { text } = subject.scenarios
      answerStream(suite, text)
      const reply = await suite.stage.post({ ...requestOf(subject.model, 'text', text), stream: true })
      readWire(await reply.text(), false)
    })

    if (isAbsent(subject.scenarios.image) && !subject.local) {
      itWithSdk('a refusal of an image that its upstream could not see', () => expectImageRefused(suite))
    }
  })
}

async function expectWholeReply({ subject, stage }: Suite, name: keyof Scenarios, fixture: ReplyFixture): Promise<void> {
  if (!subject.local) stage.answer(wholeScript(fixture))
  const request = requestOf(subject.model, name, fixture)
  const completion = (await stage.sdk.chat.completions.create(request)) as unknown as ChatCompletion
  expectWhole(completion, fixture.says)
  assert.equal(completion.object, 'chat.completion')
  assert.ok(Number.isSafeInteger(completion.created), 'a completion says when it was created, in whole seconds')
  if (stage.provider.translator !== undefined) assert.equal(completion.model, request.model, 'the model is the one asked for')
  if (name === 'image' && !subject.local) {
    assert.ok(stage.asked.at(-1)?.body.includes(IMAGE), 'the image reaches the upstream')
  }
}

async function expectStreamedReply(suite: Suite, name: keyof Scenarios, fixture: ReplyFixture): Promise<void> {
  const { subject, stage } = suite
  const request = requestOf(subject.model, name, fixture)
  answerStream(suite, fixture)
  const reply = await stage.post({ ...request, stream: true, stream_options: { include_usage: true } })
  const text = await reply.text()
  assert.equal(reply.status, 200, text)
  const gathered = gather(readWire(text, true))
  expectStreamed(gathered, fixture.says)

  const { choices } = await stage.sdk.chat.completions.stream(request).finalChatCompletion()
  assert.equal(choices[0]!.message.content ?? '', gathered.choices[0]!.content, 'the SDK puts the text together')
  assert.equal(choices[0]!.finish_reason, gathered.choices[0]!.finish, 'the SDK finds the finish')
  assert.deepEqual(
    choices[0]!.message.tool_calls?.map((call) => call.type === 'function' && call.function.arguments) ?? [],
    gathered.choices[0]!.tools.map((tool) => tool.arguments),
    'the SDK puts the calls together',
  )
}

/** What is passed on as it came is the upstream's to refuse. */
async function expectImageRefused({ subject, stage }: Suite): Promise<void> {
  if (stage.provider.translator === undefined) return
  const { text } = subject.scenarios
  stage.answer(wholeScript(text))
  const asked = stage.asked.length
  const { status } = await caught(stage.sdk.chat.completions.create(requestOf(subject.model, 'image', text)))
  assert.equal(status, 400)
  assert.equal(stage.asked.length, asked, 'nothing is sent')
}

function answerStream({ subject, stage }: Suite, fixture: ReplyFixture): void {
  if (!subject.local) stage.answer(streamScript(subject, streamBody(fixture)))
}
