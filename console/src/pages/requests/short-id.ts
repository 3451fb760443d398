/** "req_…41c2a8f3": ids begin with the time, so that only their ends differ visibly. */
export const shortId = (id: string): string => `req_…${id.slice(-8)}`
