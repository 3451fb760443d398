import assert from 'node:assert/strict'
import type { ChatCompletion } from '../../../sdk/api.ts'
import type { SaidTool } from '../../said.ts'
import { gather } from '../../translator/gather.ts'
import { readWire } from '../expect-reply.ts'
import { requestOf, toolsOf } from '../requests.ts'
import { isAbsent, type ReplyFixture } from '../scenarios.ts'
import { streamBody, streamScript, wholeScript } from '../scripts.ts'
import { itWithSdk, type Suite } from '../suite.ts'

/** What happens when the client has called the tools and gives their results back. */
export function describeTools(suite: Suite): void {
  const { parallelTools, reasoningBeforeTools } = suite.subject.scenarios
  for (const stream of [false, true]) {
    const streamed = stream ? ', streamed' : ''
    if (!isAbsent(parallelTools)) {
      itWithSdk(`goes through the SDK's loop of tool calls${streamed}`, () => runLoop(suite, parallelTools, stream))
    }
    if (!isAbsent(reasoningBeforeTools) && !suite.subject.local) {
      it(`gives its upstream the reasoning back that led to a tool call${streamed}`, async () => {
        const next = await secondTurn(suite, reasoningBeforeTools, stream)
        assert.ok(next.includes(reasoningBeforeTools.returns), `the next request holds ${reasoningBeforeTools.returns}: ${next}`)
      })
    }
  }
}

/** The SDK's own loop: it calls the tools, gives their results back, and has an answer. */
async function runLoop({ subject, stage }: Suite, fixture: ReplyFixture, stream: boolean): Promise<void> {
  const { text } = subject.scenarios
  const said = fixture.says.tools!
  const turns = [fixture, text]
  stage.answer(() => {
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
  const { completions } = stage.sdk.chat
  const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request)
  const content = await runner.finalContent()

  assert.deepEqual(called, said, 'each tool is called with its arguments')
  if (subject.local) return
  assert.equal(content, text.says.text, 'the loop ends with the answer')
  expectResults(stage.asked.at(-1)!.body.toString(), said)
}

/** Sends the model's message back as it came, the tools' results after it. Returns what then reached the upstream. */
async function secondTurn({ subject, stage }: Suite, fixture: ReplyFixture, stream: boolean): Promise<string> {
  const request = requestOf(subject.model, 'reasoningBeforeTools', fixture)
  stage.answer(stream ? streamScript(subject, streamBody(fixture)) : wholeScript(fixture))
  const reply = await (await stage.post({ ...request, stream })).text()
  const message = stream ? messageOf(reply) : (JSON.parse(reply) as ChatCompletion).choices[0]!.message
  const results = message.tool_calls!.map(({ id, function: called }, index) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: resultOf(called!.name, index),
  }))
  stage.answer(wholeScript(subject.scenarios.text))
  const answer = await stage.post({ ...request, messages: [...request.messages, message, ...results] })
  assert.equal(answer.status, 200, await answer.text())
  const next = stage.asked.at(-1)!.body.toString()
  expectResults(next, fixture.says.tools!)
  return next
}

/** A streamed message, put together as clients do who know nothing of what they keep. */
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
