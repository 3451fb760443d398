import { type Call, isRecord, Type, unsupportedParameter } from 'unified-model-gateway/plugin'

/**
 * Members of a request by which servers that are gateways themselves choose another model, upstream or account than the one that the
 * caller's key allows, and that is logged and billed. Sources: openrouter.ai/docs/guides/routing (`models`, `route`, `preset`),
 * vercel.com/docs/ai-gateway (`providerOptions`), and LiteLLM's own list of parameters that clients must not send
 * (github.com/BerriAI/litellm, proxy/auth/auth_utils.py, issues 1296 and 4596, pull requests 4107 and 29538).
 */
export const CHOOSING = [
  'models',
  'route',
  'preset',
  'fallbacks',
  'metadata.fallbacks',
  'providerOptions',
  'api_base',
  'base_url',
  'api_key',
  'model_list',
  'user_config',
  'litellm_params',
  'extra_body',
] as const

/** The options `allow` and `refuse` of a config. `names`: the members that are refused unless they are allowed. */
export const memberOptions = <Name extends string>(names: readonly Name[]) => ({
  allow: Type.Optional(
    Type.Array(Type.Enum([...names]), {
      description: 'Members of requests that are passed on, although they choose what answers in addition to `model`.',
    }),
  ),
  refuse: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      description: 'Further members of requests that are refused.',
      examples: [['plugins']],
    }),
  ),
})

/** The members that a namespace refuses. */
export interface RefusedMembers {
  /** Their names as errors write them; `metadata.fallbacks`: a member within a member. */
  readonly names: readonly string[]
  /** Matches the keys of a body that need a look. Servers in Go take a key in any case, so the pattern does. */
  readonly pattern: RegExp
}

/** The members that a config refuses. */
export function refusedMembers(
  members: readonly string[],
  { allow = [], refuse = [] }: { readonly allow?: readonly string[]; readonly refuse?: readonly string[] },
): RefusedMembers {
  const names = [...members.filter((name) => !allow.includes(name)), ...refuse]
  return { names, pattern: patternOf(names.map((name) => name.replace(/\..*/s, ''))) }
}

const patternOf = (names: readonly string[]): RegExp =>
  new RegExp(`^(?:${names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})$`, 'iu')

/** Throws `GatewayError` (400) if the member of a call with this key is refused. */
export function refuseMember(call: Pick<Call, 'member'>, key: string, { names }: RefusedMembers): void {
  for (const name of names) {
    const [head = name, inner] = name.split('.')
    if (!patternOf([head]).test(key)) continue
    const value = call.member(key)
    const isSent =
      inner === undefined ? value != null : isRecord(value) && Object.keys(value).some((one) => patternOf([inner]).test(one))
    if (isSent) throw unsupportedParameter(name, 'Name one model, in `model`; the operator of this gateway may allow this field.')
  }
}
