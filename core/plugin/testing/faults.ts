import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { type HeaderLines, type ReplyOptions, reply } from './replies.ts'
import { type Bytes, isBytes, type Step } from './script.ts'

/** A page of HTML, as a proxy in the way sends it: with status 200, if nothing else is asked for. */
export function html(options: ReplyOptions = {}): Step[] {
  const page = '<!doctype html>\n<html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>\n'
  return reply([page], { ...options, headers: { 'content-type': 'text/html; charset=utf-8', ...options.headers } })
}

const ENCODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const

/** A reply whose body is compressed, though nobody asked for it. Its bytes go out in one write. */
export function encoded(encoding: keyof typeof ENCODERS, body: Bytes | readonly Bytes[], options: ReplyOptions = {}): Step[] {
  const bytes = Buffer.concat((isBytes(body) ? [body] : body).map((piece) => Buffer.from(piece)))
  return reply([ENCODERS[encoding](bytes)], { ...options, headers: { ...options.headers, 'content-encoding': encoding } })
}

/** The forms in which upstreams say how long to wait: RFC 9110's two, and the milliseconds of OpenAI and its SDKs. */
export const RETRY_AFTER_FORMS = ['seconds', 'date', 'milliseconds'] as const

/** The header by which an upstream asks to be left alone for so many seconds: put it beside a 429 or a 503. */
export function retryAfter(seconds: number, form: (typeof RETRY_AFTER_FORMS)[number] = 'seconds'): HeaderLines {
  switch (form) {
    case 'seconds':
      return { 'retry-after': String(seconds) }
    case 'date':
      return { 'retry-after': new Date(Date.now() + seconds * 1000).toUTCString() }
    case 'milliseconds':
      return { 'retry-after-ms': String(seconds * 1000) }
  }
}
