import type { Asked } from '../translator/run-translator.ts'
import type { MediaEndpoint } from '../upstream/endpoint-replies.ts'

/** A call to an endpoint other than chat completions whose upstream does not speak as OpenAI's, or has a model of its own for it. */
export interface EndpointFixture {
  /** Fields of the client's request. `model`: the upstream's name of a model that the endpoint serves. */
  readonly asked?: Asked
  /** The body of the upstream's reply, which is sent as JSON. Absent: OpenAI's, or the provider replies by itself. */
  readonly whole?: object
  /** Members of the client's reply. Absent: the upstream's own bytes. */
  readonly says?: object
}

/** The endpoints that a fixture may have. */
export type FixedEndpoint = Exclude<MediaEndpoint, 'embeddings'>

/** The fixtures of a provider, by endpoint. */
export type EndpointFixtures = Readonly<Partial<Record<FixedEndpoint, EndpointFixture>>>

/** The model of a provider's calls to an endpoint, as the upstream names it. */
export const modelOf = (
  { model, endpoints }: { readonly model: string; readonly endpoints?: EndpointFixtures },
  endpoint: FixedEndpoint,
): string => String(endpoints?.[endpoint]?.asked?.model ?? model)
