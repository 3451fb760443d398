import assert from 'node:assert/strict'
import { tableFor } from '../../../routing/operation.ts'
import type { ParameterSupport } from '../../../sdk/api.ts'
import type { Asked } from '../../translator/run-translator.ts'
import { ASKING_FOR_NOTHING, CHAT_PARAMETERS } from '../chat-parameters.ts'
import { request } from '../requests.ts'
import { wholeScript } from '../scripts.ts'
import type { Suite } from '../suite.ts'

/** Whether the provider does with each parameter what its table says. */
export function describeParameters(suite: Suite): void {
  const { subject } = suite
  const asks = { ...CHAT_PARAMETERS, ...subject.parameters }

  /** What a request comes to: the reply, and what of it reached the upstream, if anything did. */
  async function send(asked: Asked) {
    const { stage } = suite
    stage.answer(wholeScript(subject.scenarios.text))
    const before = stage.asked.length
    const reply = await stage.post(request(subject.model, { ...subject.scenarios.text.asked, ...asked }))
    const text = await reply.text()
    const sent = stage.asked.slice(before).map(({ path, body }) => `${path}\n${body}`)
    return { reply, text, sent: sent.at(-1) }
  }

  /** The names with this support: of a provider that passes all of them on, all. */
  function named(support: ParameterSupport['support']): string[] {
    const parameters = tableFor(suite.stage.provider, subject.model)
    if (parameters === 'verbatim') return support === 'mapped' ? Object.keys(asks) : []
    return Object.keys(parameters).filter((name) => parameters[name]?.support === support && !STRUCTURE.has(name))
  }

  /** Runs a check of each of them, and tells all that fail. */
  async function each(names: readonly string[], check: (name: string, asked: Asked) => Promise<string | undefined>) {
    const wrong: string[] = []
    for (const name of names) {
      const asked = asks[name]
      const said = asked === undefined ? 'give the suite a request that uses it, in `parameters`' : await check(name, asked)
      if (said !== undefined) wrong.push(`${name}: ${said}`)
    }
    assert.deepEqual(wrong, [])
  }

  describe('has a table of parameters', () => {
    it('that knows every parameter of OpenAI', () => {
      const parameters = tableFor(suite.stage.provider, subject.model)
      if (parameters === 'verbatim') return
      assert.deepEqual(
        Object.keys(CHAT_PARAMETERS).filter((name) => !Object.hasOwn(parameters, name)),
        [],
      )
    })

    it('whose mapped ones change what is sent', () =>
      each(named('mapped'), async (name, asked) => {
        const { [name]: _, ...others } = asked
        const [without, withIt] = [await send(others), await send(asked)]
        if (withIt.sent === undefined) return `it is refused: ${withIt.text}`
        if (withIt.sent === without.sent) return 'what is sent is the same without it'
        return droppedBy(withIt.reply).includes(name) ? 'the reply says that it was dropped' : undefined
      }))

    it('whose dropped ones change nothing, and are named in the reply', () =>
      each(named('dropped'), async (name, asked) => {
        const { [name]: _, ...others } = asked
        const [without, withIt] = [await send(others), await send(asked)]
        if (withIt.sent !== without.sent) return `what is sent is another: ${withIt.sent ?? withIt.text}`
        return droppedBy(withIt.reply).includes(name) ? undefined : 'the reply does not say that it was dropped'
      }))

    it('whose refused ones are answered 400, before anything is sent', () =>
      each(named('refused'), async (name, asked) => {
        const { reply, text, sent } = await send({ [name]: asked[name] })
        if (sent !== undefined) return `it is sent: ${sent}`
        const { error } = JSON.parse(text)
        return reply.status === 400 && error.code === 'unsupported_parameter' && error.param === name ? undefined : text
      }))

    it('that minds none whose value asks for nothing', async () => {
      const { reply, text } = await send(ASKING_FOR_NOTHING)
      assert.equal(reply.status, 200, text)
      assert.deepEqual(droppedBy(reply), [])
    })
  })
}

const droppedBy = (reply: Response): readonly string[] => reply.headers.get('x-umg-params-dropped')?.split(', ') ?? []

/** What every call has: other cases tell whether it arrives. */
const STRUCTURE = new Set(['model', 'messages', 'stream', 'stream_options'])
