/**
 * The types of the modules of undici that core/internals.ts imports. It does not import undici itself: that loads fetch, WebSockets and
 * mocks too, which costs each process 50 ms of CPU and 14 MB at its start.
 */

declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}

declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici'
}

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}

declare module 'undici/lib/api/index.js' {
  import type { Dispatcher } from 'undici'

  const api: {
    /** The method of dispatchers, which undici itself gives them. */
    request(this: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>
  }

  export { api as default }
}
