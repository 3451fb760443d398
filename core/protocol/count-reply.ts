import type { EndpointName, Usage } from '../sdk/api.ts'
import { isCount } from '../sdk/json.ts'
import { refusalOf } from '../sdk/refusals.ts'
import type { ReplyFormat } from './format.ts'

const NO_TOKENS: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

/** The replies of an endpoint that counts tokens and uses none. `members`: of its replies, beside `input_tokens`. */
export const countReply = (endpoint: EndpointName, members: object = {}): ReplyFormat => ({
  endpoint,
  whole(reply) {
    if (reply.has('error')) return { refusal: refusalOf(reply.pick('error')) }
    return isCount(reply.get('input_tokens')) ? { usage: NO_TOKENS } : undefined
  },
  usage: () => NO_TOKENS,
  normalise: (translated) => ({ ...members, ...translated }),
  generates: false,
  uses: NO_TOKENS,
})
