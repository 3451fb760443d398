/**
 * The citations of an answer, as Cohere writes them, in `extra_content.cohere.citations` of the message: OpenAI's `annotations` are of web
 * pages alone, and these are of tools' results. Empty without citations.
 */
export const toCitations = (citations: readonly unknown[]): { readonly extra_content?: object } =>
  citations.length === 0 ? {} : { extra_content: { cohere: { citations } } }
