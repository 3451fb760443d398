import assert from 'node:assert/strict'
import type { ChatCompletion } from '../../../sdk/api.ts'
import { gather } from '../../translator/gather.ts'
import type { SaidTool } from '../../upstream/openai-reply.ts'
import type { ReceivedRequest } from '../../upstream/scripted-upstream.ts'
import { readWire } from '../expect-reply.ts'
import type { Suite } from '../harness.ts'
import { isAbsent, type ReplyFixture } from '../provider-under-test.ts'
import { requestOf, toolsOf } from '../requests.ts'
import { streamBody, streamScript, wholeScript } from '../scripts.ts'
import { itWithSdk } from '../sdk.ts'

/** Cases for the request after a tool call, which returns the tools' results. */
export function describeTools(suite: Suite): void {
  const { parallelTools, reasoningBeforeTools } = suite.subject.scenarios
  for (const stream of [false, true]) {
    const streamed = stream ? ', streamed' : ''
    if (!isAbsent(parallelTools)) {
      itWithSdk(`completes the SDK's loop of tool calls${streamed}`, () => runLoop(suite, parallelTools, stream))
    }
    if (!isAbsent(reasoningBeforeTools) && !suite.subject.local) {
      it(`returns the reasoning before a tool call to the upstream${streamed}`, async () => {
        const next = (await secondTurn(suite, reasoningBeforeTools, stream)).sent.body.toString()
        assert.ok(
          next.includes(reasoningBeforeTools.returns),
          `the next request contains ${reasoningBeforeTools.returns}: ${next}`,
        )
      })
    }
  }
}

/** The SDK's own loop: it calls the tools, returns their results, and gets an answer. */
async function runLoop({ subject, harness }: Suite, fixture: ReplyFixture, stream: boolean): Promise<void> {
  const { text } = subject.scenarios
  const said = fixture.says.tools!
  const turns = [fixture, text]
  harness.answer(() => {
    const turn = turns.shift()!
    return stream ? streamScript(subject, streamBody(turn)) : wholeScript(turn)
  })

  const called: SaidTool[] = []
  const tools = toolsOf(said).map(({ function: tool }) => ({
    type: 'function' as const,
    function: {
      ...tool,
      parse: JSON.parse,
      function(values: SaidTool['arguments']) {
        called.push({ name: tool.name, arguments: values })
        return resultOf(tool.name, called.length - 1)
      },
    },
  }))
  const request = { ...requestOf(subject.model, 'parallelTools', fixture), tools }
  const { completions } = harness.sdk.chat
  const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request)
  const content = await runner.finalContent()

  assert.deepEqual(called, said, 'each tool is called with its arguments')
  if (subject.local) return
  assert.equal(content, text.says.text, 'the loop ends with the answer')
  expectResults(harness.received.at(-1)!.body.toString(), said)
}

/** Returns the model's message unchanged, followed by the tools' results. Resolves to the upstream request, and the ids of the calls. */
export async function secondTurn({ subject, harness }: Suite, fixture: ReplyFixture, stream: boolean): Promise<SecondTurn> {
  const request = requestOf(subject.model, 'reasoningBeforeTools', fixture)
  harness.answer(stream ? streamScript(subject, streamBody(fixture)) : wholeScript(fixture))
  const reply = await (await harness.post({ ...request, stream })).text()
  const message = stream ? messageOf(reply) : (JSON.parse(reply) as ChatCompletion).choices[0]!.message
  const results = message.tool_calls!.map(({ id, function: called }, index) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: resultOf(called!.name, index),
  }))
  harness.answer(wholeScript(subject.scenarios.text))
  const answer = await harness.post({ ...request, messages: [...request.messages, message, ...results] })
  assert.equal(answer.status, 200, await answer.text())
  const sent = harness.received.at(-1)!
  expectResults(sent.body.toString(), fixture.says.tools!)
  return { sent, ids: results.map(({ tool_call_id: id }) => id) }
}

/** The upstream request after a tool call. */
export interface SecondTurn {
  readonly sent: ReceivedRequest
  readonly ids: readonly string[]
}

/** A streamed message, assembled as by clients that keep fields they do not know. */
function messageOf(text: string): Pick<ChatCompletion['choices'][number]['message'], 'role' | 'content' | 'tool_calls'> {
  const { content, reasoning, tools } = gather(readWire(text, false)).choices[0]!
  const calls = tools.map(({ id, name, arguments: values, ...rest }) => ({
    id: id!,
    type: 'function' as const,
    function: { name: name!, arguments: values },
    ...rest,
  }))
  return { role: 'assistant', content: content || null, ...(reasoning && { reasoning_content: reasoning }), tool_calls: calls }
}

const resultOf = (tool: string, index: number): string => `result ${index} of ${tool}`

function expectResults(sent: string, said: readonly SaidTool[]): void {
  for (const [index, { name }] of said.entries())
    assert.ok(sent.includes(resultOf(name, index)), `${resultOf(name, index)} is sent: ${sent}`)
}
