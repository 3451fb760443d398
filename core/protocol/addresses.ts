/**
 * Addresses in a client's body that an upstream may fetch: of pictures, files, sound and tool servers. An upstream in the operator's
 * network fetches them with its own rights, so only those of the public web pass (docs/decisions/upstream-addresses.md).
 */
import { GatewayError } from '../errors.ts'
import type { Call, EndpointName } from '../sdk/api.ts'
import { matchesGlob } from '../text/glob.ts'

/** A member of a body that may be an address, which an upstream would fetch. */
export interface FoundAddress {
  /** Its place: `messages[0].content[1].image_url.url`. */
  readonly path: string
  /** Undefined: it is too long to be an address, or no text. */
  readonly address: string | undefined
}

/** What one upstream may fetch for clients, in addition to public web servers. */
export interface FetchRules {
  /** Globs of addresses. */
  readonly allowed: readonly string[]
  /** Hosts whose files the upstream reads with the gateway's own credential. */
  readonly own: readonly string[]
}

/**
 * The top-level members in which each endpoint has contents, and tools of servers, by the published types of OpenAI's and Anthropic's
 * libraries and the references of Jina, Cohere, Mistral and vLLM (2026-11). In others, such as schemas of functions, an address is a text.
 */
const MEMBERS: { readonly [Endpoint in EndpointName]?: ReadonlySet<string> } = {
  'chat.completions': new Set(['messages']),
  messages: new Set(['messages', 'system', 'mcp_servers']),
  'messages.count_tokens': new Set(['messages', 'system', 'mcp_servers']),
  responses: new Set(['input', 'prompt', 'tools']),
  'responses.compact': new Set(['input', 'tools']),
  'responses.input_tokens': new Set(['input', 'tools']),
  embeddings: new Set(['input', 'image', 'images', 'inputs']),
  moderations: new Set(['input']),
  rerank: new Set(['query', 'documents']),
  'images.generations': new Set(['image', 'images', 'image_url', 'mask']),
  'images.edits': new Set(['image', 'images', 'image_url', 'mask']),
}

/** The members of an endpoint that may contain addresses; undefined if none does. */
export const fetchedMembers = (endpoint: EndpointName): ReadonlySet<string> | undefined => MEMBERS[endpoint]

/** Members that are addresses or data URLs. */
const ADDRESSES = new Set(['image_url', 'video_url', 'audio_url', 'document_url', 'file_url', 'server_url'])
/** Members in which `url` is one: a source of the Messages API, a picture of the chat completions API. */
const URL_PARENTS = new Set([...ADDRESSES, 'source', 'image', 'images', 'video', 'audio', 'mask', 'mcp_servers'])
/** Members that are data, or names of files, and that some vendors take an address in (OpenRouter, Alibaba, Jina, Google). */
const DATA = new Set(['file_data', 'file_id', 'image', 'images', 'video', 'audio', 'mask', 'input_audio'])
/** Members whose content is for a model or a function, and is not fetched: the input of a tool call, a schema. */
const OPAQUE = new Set(['input', 'arguments', 'parameters', 'input_schema', 'schema', 'format'])

/** What a text is, by the names of the members around it, the outermost first; lower case. Undefined: no address. */
export function addressKind(names: readonly string[]): 'address' | 'data' | undefined {
  const name = names.at(-1) ?? ''
  const parent = names.at(-2) ?? ''
  const isAddress = ADDRESSES.has(name) || (name === 'url' && URL_PARENTS.has(parent))
  const isData = DATA.has(name) || (name === 'data' && parent === 'input_audio')
  if ((!isAddress && !isData) || names.slice(1).some((each) => OPAQUE.has(each))) return undefined
  return isAddress ? 'address' : 'data'
}

/** Whether a name of this length, in bytes, with this last letter, may be one of an address: most names are told apart by that. */
export const mayBeAddress = (length: number, last: number): boolean => SUSPECTS[((length & 15) << 5) | (last & 31)] === 1

const SUSPECTS = new Uint8Array(16 * 32)
for (const name of [...ADDRESSES, ...DATA, 'url', 'data'])
  SUSPECTS[(name.length << 5) | (name.charCodeAt(name.length - 1) & 31)] = 1

/** Longer texts are no addresses, in characters. */
export const MAX_ADDRESS = 8192

/** Whether a text is the content itself, as a data URL, or, where data is expected, as base64 or the id of a file. */
export const isContent = (text: string, kind: 'address' | 'data'): boolean =>
  /^\s*data:/i.test(text) || (kind === 'data' && !/^[\s\p{Cc}]*[a-z][a-z\d+.-]*\s*:/iu.test(text))

/** The addresses in a form: `url` and `file_url` of a transcription (Groq, Mistral), and texts in place of files. */
export function addressesInForm(form: Pick<Call, 'keys' | 'member'>): readonly FoundAddress[] {
  return form.keys.flatMap((path) => {
    const name = path.replace(/\[\]$/, '').toLowerCase()
    const kind = name === 'url' ? 'address' : FORM_DATA.has(name) ? 'data' : addressKind([name])
    if (kind === undefined) return []
    const texts = [form.member(path)].flat().filter((value) => typeof value === 'string')
    return texts.filter((address) => !isContent(address, kind)).map((address) => ({ path, address }))
  })
}

const FORM_DATA = new Set(['file', 'image', 'mask'])

/** Throws `GatewayError` (400) for the first address that the upstream may not fetch. */
export function expectFetchable(found: readonly FoundAddress[], { allowed, own }: FetchRules): void {
  for (const { path, address } of found) {
    if (address !== undefined && (allowed.some((glob) => matchesGlob(glob, address)) || isPublic(address, own))) continue
    if (address !== undefined && !HAS_SCHEME.test(address)) {
      const detail = 'expected an address (https://…), or a base64 data URL (data:<type>;base64,…)'
      throw new GatewayError('invalid_value', { param: path, values: { detail } })
    }
    const detail =
      ' Send the file itself, as a data URL, or its address on a public web server (https://…). The operator may allow the address, by' +
      ' `addresses` of the namespace.'
    throw new GatewayError('unsupported_parameter', { param: path, values: { detail } })
  }
}

const HAS_SCHEME = /^[\s\p{Cc}]*[a-z][a-z\d+.-]*:/iu

/** Names of machines that are not on the public web (RFC 6762, RFC 6761, RFC 8375, ICANN's `internal`). */
const PRIVATE = /(?:^|\.)(?:internal|local|localhost|localdomain|home\.arpa|lan|intranet|corp|home|private)$/
/**
 * An address that all parsers read alike: no user, no backslash, no control characters, and an end of the host that is one. WHATWG's parser
 * takes the host before a backslash, curl and Python after it.
 */
const PLAIN = /^https?:\/\/[^\s\p{Cc}/?#\\@]+(?:$|\/[^\p{Cc}\\]*$|[?#][^\p{Cc}\\@]*$)/iu

/** Whether an address is one of the web, by a name with a top-level domain. In whatever way an IP address is written, its host ends in a digit or a bracket. */
function isPublic(address: string, own: readonly string[]): boolean {
  const url = PLAIN.test(address) ? URL.parse(address) : null
  if (url === null) return false
  const host = url.hostname.replace(/\.$/, '')
  return /\.[a-z][a-z\d-]*$/.test(host) && !PRIVATE.test(host) && !own.includes(host)
}
