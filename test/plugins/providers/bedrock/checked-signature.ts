import { createHash, createHmac } from 'node:crypto'
import type { ReceivedRequest } from 'unified-model-gateway/plugin/testing'

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const AUTHORIZATION = /^(AWS4-HMAC-SHA256) Credential=([^/]+)\/(\d{8})\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/

/**
 * The headers of a signed request that change with its time, without it. The signature is `valid` if it is that of AWS's documentation
 * (Create a signed AWS API request), which this computes without the provider's library, and else stands as it was sent.
 */
export const checkedSignature =
  (secretAccessKey: string) =>
  (request: ReceivedRequest): Readonly<Record<string, string>> => {
    const { authorization = '', 'x-amz-date': date = '' } = request.headers
    const [, algorithm, id, day = '', scope = '', names = '', signature] = AUTHORIZATION.exec(authorization) ?? []
    if (algorithm === undefined) return {}
    const toSign = [algorithm, date, `${day}/${scope}`, sha256(canonical(request, names))].join('\n')
    const key = [day, ...scope.split('/')].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
    const valid = day === date.slice(0, 8) && hmac(key, toSign).toString('hex') === signature
    return {
      authorization: `${algorithm} Credential=${id}/DAY/${scope}, SignedHeaders=${names}, Signature=${valid ? 'valid' : signature}`,
      'x-amz-content-sha256': request.headers['x-amz-content-sha256'] === sha256(request.body) ? 'valid' : 'wrong',
      'x-amz-date': /^\d{8}T\d{6}Z$/.test(date) ? 'TIME' : date,
    }
  }

function canonical({ method, path, headers, body }: ReceivedRequest, names: string): string {
  const [plain = '', query = ''] = path.split('?')
  const encoded = plain.split('/').map((part) => encodeURIComponent(part).replaceAll(/[!'()*]/g, hexOf))
  const lines = names.split(';').map((name) => `${name}:${headers[name]}\n`)
  return [method, encoded.join('/'), query.split('&').sort().join('&'), lines.join(''), names, sha256(body)].join('\n')
}

const hexOf = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
