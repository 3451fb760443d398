import { asksForNothing, type Call, Type } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import { NUMBERS } from './request.ts'

/** The option `api` of a config. */
export const apiOption = Type.Optional(
  Type.Enum(['auto', 'generateContent', 'interactions'], {
    default: 'auto',
    description:
      "By which of Google's APIs chat completions are served. auto: by the Interactions API the calls with tools or a search of the web, of models with thinking levels, if nothing of the call is lost; at Google's own address only.",
  }),
)

/** Whether the Interactions API carries more of a call than generateContent, and loses nothing of it. */
export const carriesMore = (call: Call, facts: ModelFacts): boolean =>
  facts.thinking === 'level' && GAINS.some((key) => call.keys.includes(key)) && losesNothing(call, facts)

/** What calls ask for of which this API carries more: real ids of calls, signed thoughts as steps of their own, sources with their places. */
const GAINS = ['tools', 'web_search_options']

/** Parameters that this API does not have, with those in `NUMBERS`: some of these it does not have, the others it is going to lose. */
const ONLY_GENERATE = ['n', 'logprobs', 'top_logprobs', 'modalities']

/** Whether this API serves a call as generateContent does: it asks for nothing that the model takes there only. */
const losesNothing = (call: Call, facts: ModelFacts): boolean =>
  ONLY_GENERATE.every((name) => asksForNothing(name, call.member(name))) &&
  NUMBERS.every(([name, , fact, idle]) => !facts[fact] || (call.member(name) ?? idle) === idle)
