import type { SoakedGateway } from './fixture.ts'

/** A key that the gateway has acknowledged. */
export interface MadeKey {
  readonly id: string
  readonly secret: string
}

/** Creates a key by the management API. Throws if that fails. */
export async function createKey(gateway: SoakedGateway, name: string): Promise<MadeKey> {
  return (await post(gateway, '/keys', { name, kind: 'live' })) as MadeKey
}

/** Revokes a key by the management API. Throws if that fails. */
export async function revokeKey(gateway: SoakedGateway, id: string): Promise<void> {
  await post(gateway, `/keys/${id}/revoke`, {})
}

/** The status of a small call with a key. */
export async function statusOf({ url }: Pick<SoakedGateway, 'url'>, secret: string): Promise<number> {
  const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
  await reply.text()
  return reply.status
}

async function post({ url, keys }: SoakedGateway, path: string, body: object): Promise<unknown> {
  const reply = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${path} was answered ${reply.status} ${text}`)
  return JSON.parse(text)
}
