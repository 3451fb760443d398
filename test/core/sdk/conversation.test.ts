import { expect } from 'chai'
import {
  appendToTurns,
  argumentsOf,
  type ChatMessage,
  type FunctionToolCall,
  type GatewayError,
  ToolIds,
  type Turn,
  walkConversation,
  walkMessages,
} from 'unified-model-gateway/plugin'

const called = (id: string, text = '{}'): FunctionToolCall => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: text },
})
const says = (role: ChatMessage['role'], content = 'Hi'): ChatMessage => ({ role, content })
const asks = (...ids: string[]): ChatMessage => ({ role: 'assistant', tool_calls: ids.map((id) => called(id)) })
const answers = (tool_call_id: string): ChatMessage => ({ role: 'tool', tool_call_id, content: 'Blue' })

/** The visits of messages: their roles and places, and of results the numbers of their calls. */
function visits(messages: readonly ChatMessage[]): string[] {
  const seen: string[] = []
  let count = 0
  walkConversation<number>(messages, {
    system: (_, path) => seen.push(`system ${path}`),
    user: (_, path) => seen.push(`user ${path}`),
    assistant(_, path, calls) {
      seen.push(`assistant ${path}`)
      return calls.map(() => ++count)
    },
    tool: (_, path, call) => seen.push(`tool ${path} of call ${call}`),
  })
  return seen
}

function refusalOf(walk: () => unknown): Pick<GatewayError, 'row' | 'param'> {
  try {
    walk()
  } catch (error) {
    const { row, param } = error as GatewayError
    return { row, param }
  }
  return expect.fail('nothing was refused')
}

describe('walkConversation and walkMessages', () => {
  it('visit each message by its role, in order', () => {
    expect(visits([says('developer'), says('system'), says('user'), says('assistant')])).to.deep.equal([
      'system messages[0]',
      'system messages[1]',
      'user messages[2]',
      'assistant messages[3]',
    ])
  })

  it('pass each result its call, in any order; calls with the same id in their order', () => {
    const results = (...messages: ChatMessage[]) => visits(messages).filter((line) => line.startsWith('tool'))
    expect(results(asks('a', 'b'), answers('b'), answers('a'))).to.deep.equal([
      'tool messages[1] of call 2',
      'tool messages[2] of call 1',
    ])
    expect(results(asks('a', 'a'), answers('a'), answers('a'), asks('a'), answers('a'))).to.deep.equal([
      'tool messages[1] of call 1',
      'tool messages[2] of call 2',
      'tool messages[4] of call 3',
    ])
  })

  for (const [what, messages, param] of [
    ['a call without a result before a message of the user', [asks('a'), says('user')], 'messages[1]'],
    [
      'a call without a result before a message of the assistant',
      [asks('a', 'b'), answers('b'), says('assistant')],
      'messages[2]',
    ],
    ['a last call without a result', [asks('a')], 'messages'],
    ['a result without a call', [says('user'), answers('a')], 'messages[1].tool_call_id'],
    ['a second result', [asks('a'), answers('a'), answers('a')], 'messages[2].tool_call_id'],
  ] as const) {
    it(`refuse ${what}`, () => {
      expect(refusalOf(() => visits(messages))).to.deep.equal({ row: 'invalid_value', param })
    })
  }

  it('allow instructions between a call and its result', () => {
    expect(visits([asks('a'), says('system'), answers('a')])).to.have.length(3)
  })

  const custom = { id: 'c', type: 'custom', custom: { name: 'sql', input: '' } } as const
  for (const [what, message, param] of [
    ['the role function', says('function'), 'messages[1].role'],
    ['a deprecated function call', { role: 'assistant', function_call: {} }, 'messages[1].function_call'],
    ['audio of the assistant', { role: 'assistant', audio: { id: 'a' } }, 'messages[1].audio'],
    ['a call of a custom tool', { role: 'assistant', tool_calls: [called('a'), custom] }, 'messages[1].tool_calls[1]'],
  ] as const) {
    it(`both refuse ${what}`, () => {
      const visitor = { system: () => {}, user: () => {}, assistant: () => {}, tool: () => {} }
      const messages = [says('user'), message] as ChatMessage[]
      const refusal = { row: 'unsupported_parameter', param }
      expect(refusalOf(() => walkMessages(messages, visitor))).to.deep.equal(refusal)
      expect(refusalOf(() => visits(messages))).to.deep.equal(refusal)
    })
  }

  it('walkMessages takes results without calls, and calls without results', () => {
    const seen: string[] = []
    walkMessages([answers('a'), asks('b'), says('user')], {
      system: () => {},
      user: (_, path) => seen.push(path),
      assistant: (_, path, calls) => seen.push(`${path} ${calls.length}`),
      tool: (_, path) => seen.push(path),
    })
    expect(seen).to.deep.equal(['messages[0]', 'messages[1] 1', 'messages[2]'])
  })
})

describe('argumentsOf', () => {
  it('returns an object for any text of the model', () => {
    expect(argumentsOf(called('a', '{"at":"sea"}'))).to.deep.equal({ at: 'sea' })
    expect(argumentsOf(called('a', ' '))).to.deep.equal({})
    for (const text of ['{"at":"s', '[1]', 'null']) expect(argumentsOf(called('a', text))).to.deep.equal({ arguments: text })
  })
})

describe('ToolIds', () => {
  it('makes valid and unique ids, the same each time', () => {
    const rule = {
      fit: (id: string) => id.replace(/[^\w-]/g, '_'),
      copy: (fitted: string, number: number) => `${fitted}-${number}`,
    }
    const given = ['a:b', 'a.b', 'a_b', 'a_b-2', 'x']
    const take = (ids: ToolIds) => given.map((id) => ids.take(id))
    expect(take(new ToolIds(rule))).to.deep.equal(['a_b', 'a_b-2', 'a_b-3', 'a_b-2-2', 'x'])
    expect(take(new ToolIds(rule))).to.deep.equal(take(new ToolIds(rule)))
  })
})

describe('appendToTurns', () => {
  it('merges adjacent blocks of one role into a turn', () => {
    const turns: Turn<'user' | 'assistant', string>[] = []
    appendToTurns(turns, 'user', ['a'])
    appendToTurns(turns, 'user', ['b', 'c'])
    appendToTurns(turns, 'assistant', [])
    appendToTurns(turns, 'assistant', ['d'])
    expect(turns).to.deep.equal([
      { role: 'user', content: ['a', 'b', 'c'] },
      { role: 'assistant', content: ['d'] },
    ])
  })
})
