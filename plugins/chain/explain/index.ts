import { type CallState, defineChain, type ParameterSupport, Type } from 'unified-model-gateway/plugin'

const Config = Type.Object(
  {
    keys: Type.Array(Type.String({ minLength: 1, refersTo: 'key of this file' }), {
      minItems: 1,
      uniqueItems: true,
      description: 'Ids of the keys that may ask, as `umg keys list` shows them; `routes:NAME` is the key NAME of this file.',
      examples: [['key_2b7c', 'routes:nightly']],
    }),
  },
  { additionalProperties: false },
)

/** The request's header that asks for an explanation. */
const ASKS = 'x-umg-explain'

/** Longer headers make some clients refuse the reply. */
const MAX_LENGTH = 1000

/** Tells calls that ask for it, and whose key may, how the routing table led them: by which route, in which attempts, with which parameters. */
export default defineChain({
  apiVersion: 1,
  name: 'explain',
  schema: Config,
  create({ keys }) {
    const allowed = new Set(keys)
    return {
      async handle(ctx, next) {
        const state: CallState = ctx.state
        if (ctx.get(ASKS) !== '1') return next()
        try {
          await next()
        } finally {
          if (state.principal !== undefined && allowed.has(state.principal.keyId)) ctx.set(explanation(state))
        }
      },
    }
  },
})

/** Empty where the call was refused before it was led anywhere. */
function explanation({ trace, attempts }: CallState): Record<string, string> {
  if (trace === undefined) return {}
  const { route, affinity, skipped, parameters } = trace
  return headers({
    'x-umg-route': route,
    'x-umg-affinity': Object.entries(affinity)
      .map(([what, signal]) => `${what} by ${signal}`)
      .join(', '),
    'x-umg-skipped': skipped.map(({ target, why }) => `${target} ${why}`).join(', '),
    'x-umg-attempt-results': attempts
      .map(({ namespace, model, credential, result, ms }) => {
        const by = credential === undefined ? '' : ` (${credential})`
        return `${namespace}/${model}${by} ${result} ${Math.round(ms)}ms`
      })
      .join(', '),
    'x-umg-parameters': parameters === 'verbatim' ? parameters : Object.entries(parameters).map(support).join(', '),
  })
}

const support = ([name, entry]: [string, ParameterSupport]): string =>
  entry.support === 'mapped' ? `${name} mapped to ${entry.to}` : `${name} ${entry.support}`

/** Printable ASCII, bounded; what is empty is left out. */
function headers(values: Readonly<Record<string, string>>): Record<string, string> {
  const printable = Object.entries(values).map(([name, value]) => [name, value.replace(/[^ -~]/g, '').slice(0, MAX_LENGTH)])
  return Object.fromEntries(printable.filter(([, value]) => value !== ''))
}
