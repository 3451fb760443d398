import assert from 'node:assert/strict'
import { tableFor } from '../../../routing/handler.ts'
import type { ParameterSupport } from '../../../sdk/api.ts'
import type { Asked } from '../../translator/run-translator.ts'
import {
  CHAT_PARAMETERS,
  FUNCTION_PARAMETERS,
  INNER_PARAMETERS,
  NEUTRAL_PARAMETERS,
  OTHER_PARAMETERS,
  STRUCTURE,
} from '../chat-parameters.ts'
import type { Suite } from '../harness.ts'
import { request } from '../requests.ts'
import { wholeScript } from '../scripts.ts'

/** Cases for the parameter table: the provider treats each parameter as its table says. */
export function describeParameters(suite: Suite): void {
  const { subject } = suite
  const inner = Object.entries(INNER_PARAMETERS).map(([name, asked]) => [name, asked.with])
  const asks: Readonly<Record<string, Asked>> = {
    ...CHAT_PARAMETERS,
    ...FUNCTION_PARAMETERS,
    ...OTHER_PARAMETERS,
    ...Object.fromEntries(inner),
    ...subject.parameters,
  }

  /** Sends a request. Resolves to the reply and the upstream request; `sent` is undefined if there was none. */
  async function send(asked: Asked) {
    const { harness } = suite
    harness.answer(wholeScript(subject.scenarios.text))
    const before = harness.received.length
    const reply = await harness.post(request(subject.model, { ...subject.scenarios.text.asked, ...asked }))
    const text = await reply.text()
    const sent = harness.received.slice(before).map(({ path, body }) => `${path}\n${body}`)
    return { reply, text, sent: sent.at(-1) }
  }

  /** Whether the provider has no table; what its upstream does not take is then named by each request. */
  const isVerbatim = (): boolean => tableFor(suite.harness.provider, subject.model) === 'verbatim'

  /** Whether the provider sees a parameter: functions in the way before tools become tools, unless it takes them. */
  const reaches = (name: string): boolean =>
    !Object.hasOwn(FUNCTION_PARAMETERS, name) || suite.harness.provider.toolForms?.includes('functions') === true

  /** The parameters with this support. A provider without a table maps all but those that its suite says it refuses. */
  function named(support: ParameterSupport['support']): string[] {
    const parameters = tableFor(suite.harness.provider, subject.model)
    if (parameters === 'verbatim') {
      const { refused = [] } = subject
      return support === 'refused'
        ? [...refused]
        : support === 'mapped'
          ? Object.keys(asks).filter((name) => !refused.includes(name))
          : []
    }
    return Object.keys(parameters).filter(
      (name) => parameters[name]?.support === support && !STRUCTURE.has(name) && reaches(name),
    )
  }

  /** Runs a check on each parameter, and reports all failures at once. */
  async function each(names: readonly string[], check: (name: string, asked: Asked) => Promise<string | undefined>) {
    const wrong: string[] = []
    for (const name of names) {
      const asked = asks[name]
      const failure = asked === undefined ? 'give the suite a request that uses it, in `parameters`' : await check(name, asked)
      if (failure !== undefined) wrong.push(`${name}: ${failure}`)
    }
    assert.deepEqual(wrong, [])
  }

  describe('has a parameter table', () => {
    it('that lists every parameter of OpenAI', () => {
      const parameters = tableFor(suite.harness.provider, subject.model)
      if (parameters === 'verbatim') return
      const inside = Object.keys(INNER_PARAMETERS).filter((name) => !INNER_PARAMETERS[name]!.isOthers)
      const missing = [...Object.keys(CHAT_PARAMETERS), ...inside].filter((name) => !Object.hasOwn(parameters, name))
      assert.deepEqual(missing, [])
    })

    it('whose mapped parameters change the upstream request', () =>
      each(named('mapped'), async (name, asked) => {
        const [without, withIt] = [await send(withoutIt(name, asked)), await send(asked)]
        if (withIt.sent === undefined) return `it is refused: ${withIt.text}`
        const isDropped = droppedBy(withIt.reply).includes(name)
        if (isVerbatim() && isDropped)
          return withIt.sent === without.sent ? undefined : 'it is sent, but the reply says it was dropped'
        if (withIt.sent === without.sent) return 'the upstream request is the same without it'
        return isDropped ? 'the reply says that it was dropped' : undefined
      }))

    it('whose applied parameters do not reach the upstream', () =>
      each(named('applied'), async (name, asked) => {
        const [without, withIt] = [await send(withoutIt(name, asked)), await send(asked)]
        if (withIt.sent === undefined) return `it is refused: ${withIt.text}`
        if (withIt.sent !== without.sent) return `the upstream request changes: ${withIt.sent}`
        return droppedBy(withIt.reply).includes(name) ? 'the reply says that it was dropped' : undefined
      }))

    it('whose dropped parameters change nothing and are named in the reply', () =>
      each(named('dropped'), async (name, asked) => {
        const [without, withIt] = [await send(withoutIt(name, asked)), await send(asked)]
        // The provider takes no such part, such as an image.
        if (without.sent === undefined && Object.hasOwn(INNER_PARAMETERS, name)) return undefined
        if (withIt.sent !== without.sent) return `the upstream request changes: ${withIt.sent ?? withIt.text}`
        return droppedBy(withIt.reply).includes(name) ? undefined : 'the reply does not say that it was dropped'
      }))

    it('whose refused parameters get a 400 before anything is sent', () =>
      each(named('refused'), async (name, asked) => {
        const { reply, text, sent } = await send({ [name]: asked[name] })
        if (sent !== undefined) return `it is sent: ${sent}`
        const { error } = JSON.parse(text)
        return reply.status === 400 && error.code === 'unsupported_parameter' && error.param === name ? undefined : text
      }))

    it('that accepts every parameter at a neutral value', async () => {
      const { reply, text } = await send(NEUTRAL_PARAMETERS)
      assert.equal(reply.status, 200, text)
      assert.deepEqual(droppedBy(reply), [])
    })
  })
}

const droppedBy = (reply: Response): readonly string[] => reply.headers.get('x-umg-params-dropped')?.split(', ') ?? []

function withoutIt(name: string, asked: Asked): Asked {
  if (Object.hasOwn(INNER_PARAMETERS, name)) return INNER_PARAMETERS[name]!.without
  const { [name]: _, ...others } = asked
  return others
}
