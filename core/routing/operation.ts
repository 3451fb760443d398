import type { Attempt, Call, EndpointName, EndpointOperation, Provider, TranslatedCompletion, Translator } from '../plugin/api.ts'

/** How a provider serves the calls of one endpoint. */
export type Operation = Pick<Provider, 'parameters' | 'request' | 'translator'>

/** How a provider serves an endpoint; undefined where it does not. */
export function operationOf(provider: Provider, endpoint: EndpointName): Operation | undefined {
  if (endpoint === 'chat.completions') return provider
  const operation = endpoint === 'models' ? undefined : provider.endpoints?.[endpoint]
  return operation && (OPERATIONS.get(operation) ?? adapted(operation))
}

/** Those that are no more than a function of the reply, as operations with a translator. */
const OPERATIONS = new WeakMap<EndpointOperation, Operation>()

function adapted(operation: EndpointOperation): Operation {
  const { reply } = operation
  const made: Operation = {
    parameters: operation.parameters,
    request: (call: Call, attempt: Attempt) => operation.request(call, attempt),
    ...(reply && { translator: (call: Call): Translator => wholeOnly((body) => reply.call(operation, body, call)) }),
  }
  OPERATIONS.set(operation, made)
  return made
}

/** The endpoint's format knows what shape it has. */
const wholeOnly = (completion: (body: unknown) => object): Translator => ({
  completion: completion as (body: unknown) => TranslatedCompletion,
  event: () => {
    throw new Error('only whole replies are translated')
  },
})
