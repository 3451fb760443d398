/** The code of a page could not be loaded: the gateway is away, or was replaced by a version whose files have other names. */
export class PageFilesMissing extends Error {
  override readonly name = 'PageFilesMissing'

  constructor(cause: unknown) {
    super('The files of this page could not be loaded. Check that the gateway is running and that you are online.', { cause })
  }
}

/** Loads the code of a page. Throws PageFilesMissing. */
export async function loadPage<Page>(load: () => Promise<Page>): Promise<Page> {
  try {
    return await load()
  } catch (cause) {
    throw new PageFilesMissing(cause)
  }
}

/** Whether the gateway serves another version of the console than this page. Rejects if it cannot be reached. */
export async function isReplaced(): Promise<boolean> {
  const script = document.querySelector('script[type="module"][src]')?.getAttribute('src')
  const response = await fetch(import.meta.env.BASE_URL, { cache: 'no-store' })
  return response.ok && script != null && !(await response.text()).includes(script)
}
