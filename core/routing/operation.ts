import type { Attempt, Call, EndpointName, EndpointOperation, Provider, Translator } from '../plugin/api.ts'

/** How a provider serves the calls of one endpoint. */
export type Operation = Pick<Provider, 'parameters' | 'request' | 'translator' | 'error'>

/** How a provider serves an endpoint; undefined where it does not. */
export function operationOf(provider: Provider, endpoint: EndpointName): Operation | undefined {
  if (endpoint === 'chat.completions') return provider
  const operation = endpoint === 'models' ? undefined : provider.endpoints?.[endpoint]
  return operation && (OPERATIONS.get(operation) ?? adapted(operation, provider))
}

/** Those that are no more than a function of the reply, as operations with a translator. */
const OPERATIONS = new WeakMap<EndpointOperation, Operation>()

function adapted(operation: EndpointOperation, provider: Provider): Operation {
  const { reply } = operation
  const error = operation.error ?? (provider.error && atInput(provider.error))
  const made: Operation = {
    parameters: operation.parameters,
    request: (call: Call, attempt: Attempt) => operation.request(call, attempt),
    ...(reply && { translator: (): Translator => wholeOnly((body, headers = {}) => reply.call(operation, body, headers)) }),
    ...(error && { error }),
  }
  OPERATIONS.set(operation, made)
  return made
}

/** The endpoint's format knows what shape it has. */
const wholeOnly = (completion: (body: unknown, headers?: Readonly<Record<string, string>>) => object): Translator => ({
  completion: completion as Translator['completion'],
  event: () => {
    throw new Error('only whole replies are translated')
  },
})

/** A provider's reader of refusals speaks of chat completions: what has `messages` there has `input` here. */
const atInput =
  (read: NonNullable<Provider['error']>): Provider['error'] =>
  (reply) => {
    const refusal = read(reply)
    return refusal.param === 'messages' ? { ...refusal, param: 'input' } : refusal
  }
