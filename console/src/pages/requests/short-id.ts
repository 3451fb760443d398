/** "req_a8f3…c2a8f3": ids of the same minute begin alike, so that their ends tell them apart. */
export const shortId = (id: string): string => `${id.slice(0, 8)}…${id.slice(-6)}`
