import type { SoakedGateway } from './stage.ts'

/** A key that was made: the gateway has said so. */
export interface MadeKey {
  readonly id: string
  readonly secret: string
}

/** Makes a key by the management API. Throws where that does not say it has. */
export async function createKey(gateway: SoakedGateway, name: string): Promise<MadeKey> {
  return (await post(gateway, '/keys', { name, kind: 'live' })) as MadeKey
}

/** Revokes a key by the management API. Throws where that does not say it has. */
export async function revokeKey(gateway: SoakedGateway, id: string): Promise<void> {
  await post(gateway, `/keys/${id}/revoke`, {})
}

/** The status with which a gateway answers a small call of a key. */
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
