/** Where an upstream's API is. */
export interface BaseUrl {
  readonly origin: string
  /** It has no slash at its end: of an address without a path it is empty. */
  readonly path: string
}

/** What to tell the operator of a base URL that cannot be used. */
export interface BaseUrlOptions {
  /** The name of its field in the config. Default: `baseUrl`. */
  readonly field?: string
  /** The path that the provider adds to it: `/chat/completions`. */
  readonly endpoint: string
  /** One that can be used. */
  readonly example: string
}

/**
 * Reads a base URL of a config. Throws an Error that says what to write instead, and does not repeat the URL: it may hold a credential.
 */
export function parseBaseUrl(baseUrl: string, { field = 'baseUrl', endpoint, example }: BaseUrlOptions): BaseUrl {
  const url = URL.parse(baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error(`${field} must be an http or https URL: give the address before ${endpoint}, such as ${example}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error(`${field} must hold no credentials: take out what stands before the @, credentials have fields of their own`)
  }
  if (/[?#]/.test(baseUrl)) throw new Error(`${field} must have no query and no fragment: end it before the ? or #`)
  const path = url.pathname.replace(/\/+$/, '')
  if (path.endsWith(endpoint)) throw new Error(`${field} must end before ${endpoint}, which is added to it`)
  return { origin: url.origin, path }
}
