import { setTimeout as delay } from 'node:timers/promises'
import { cut, FIN, json, type Script, type ScriptedUpstream, type Step, sse } from '../../../core/testing/kit.ts'
import { anthropic } from '../../e2e/sdk/anthropic-dialect.ts'
import type { Dialect } from '../../e2e/sdk/dialect.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import type { Answer } from '../client.ts'

/** One kind of call: what is asked, what the upstream does, and how it must end. */
export interface Kind {
  readonly dialect: Dialect
  /** What it is called, which is the name of the model too. */
  readonly name: string
  readonly stream: boolean
  /** Of a hundred calls. */
  readonly share: number
  readonly script: () => Script
  /** The client leaves when this has come. */
  readonly leaveAt?: string
  isExpected(answer: Answer): boolean
}

const SAID = { text: Array.from({ length: 20 }, (_, number) => `word${number} `) }

/** Between two writes of a stream. */
const PAUSE_MS = 5

async function* slowly(script: readonly Step[]): AsyncGenerator<Step> {
  for (const step of script) {
    yield step
    await delay(PAUSE_MS)
  }
}

const streamOf = (dialect: Dialect): Step[] => sse(dialect.events(SAID))

const isWhole = ({ status, whole, body }: Answer): boolean => status === 200 && whole && body.includes('word19')
const isBroken = ({ status, whole, body }: Answer): boolean => status === 200 && !whole && body.includes('"error"')

const whole = (dialect: Dialect, share: number): Kind => ({
  dialect,
  name: 'whole',
  stream: false,
  share,
  script: () => json(dialect.whole(SAID)),
  isExpected: isWhole,
})

const streamed = (dialect: Dialect, share: number): Kind => ({
  dialect,
  name: 'streamed',
  stream: true,
  share,
  script: () => slowly(streamOf(dialect)),
  isExpected: (answer) => isWhole(answer) && answer.body.endsWith('data: [DONE]\n\n'),
})

const broken = (dialect: Dialect): Kind => ({
  dialect,
  name: 'broken',
  stream: true,
  share: 1,
  script: () => slowly(cut(streamOf(dialect), 1500)),
  isExpected: isBroken,
})

const KINDS: readonly Kind[] = [
  streamed(openai, 35),
  whole(openai, 25),
  streamed(anthropic, 20),
  whole(anthropic, 15),
  broken(openai),
  broken(anthropic),
  {
    dialect: openai,
    name: 'refused',
    stream: false,
    share: 1,
    script: () => json(openai.error(500, 'no'), { status: 500 }),
    isExpected: ({ status }) => status === 502,
  },
  {
    dialect: openai,
    name: 'unanswered',
    stream: true,
    share: 1,
    script: () => [FIN],
    isExpected: ({ status }) => status === 502,
  },
  {
    dialect: openai,
    name: 'left',
    stream: true,
    share: 1,
    script: () => slowly(streamOf(openai)),
    leaveAt: 'word5',
    isExpected: ({ status, whole, body }) => status === 200 && !whole && !body.includes('word19'),
  },
]

/** A hundred calls in which the kinds have their shares. */
const HUNDRED = KINDS.flatMap((kind) => Array<Kind>(kind.share).fill(kind))

/** Some number without a divisor in common with a hundred: the kinds alternate. */
const STEP = 37

export const kindOf = (index: number): Kind => HUNDRED[(index * STEP) % HUNDRED.length]!

/** Has the upstreams do what each kind says. */
export function serveKinds(upstreams: Readonly<Record<Dialect['namespace'], ScriptedUpstream>>): void {
  for (const [namespace, upstream] of Object.entries(upstreams)) {
    upstream.on((request) => {
      const { model } = request.json() as { readonly model: string }
      return KINDS.find(({ dialect, name }) => dialect.namespace === namespace && name === model)!.script()
    })
  }
}
