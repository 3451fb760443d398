import { setTimeout as delay } from 'node:timers/promises'
import { cut, FIN, json, type Script, type ScriptedUpstream, type Step, sse } from '../../../core/testing/kit.ts'
import { anthropic } from '../../e2e/sdk/anthropic-dialect.ts'
import type { Dialect } from '../../e2e/sdk/dialect.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import type { Answer } from '../client.ts'

/** One kind of call: its request, the upstream's script, and the expected end. */
export interface Kind {
  readonly dialect: Dialect
  /** Its name, which is also the model's. */
  readonly name: string
  readonly stream: boolean
  /** Calls of this kind in a hundred. */
  readonly share: number
  readonly script: () => Script
  /** The client disconnects after this text. */
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

/** A hundred calls with the shares of the kinds. */
const HUNDRED = KINDS.flatMap((kind) => Array<Kind>(kind.share).fill(kind))

/** Coprime to a hundred, so that the kinds alternate. */
const STEP = 37

export const kindOf = (index: number): Kind => HUNDRED[(index * STEP) % HUNDRED.length]!

/** Sets the upstreams' scripts for all kinds. */
export function serveKinds(upstreams: Readonly<Record<Dialect['namespace'], ScriptedUpstream>>): void {
  for (const [namespace, upstream] of Object.entries(upstreams)) {
    upstream.on((request) => {
      const { model } = request.json() as { readonly model: string }
      return KINDS.find(({ dialect, name }) => dialect.namespace === namespace && name === model)!.script()
    })
  }
}
