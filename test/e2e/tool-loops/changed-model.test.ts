import { expect } from 'chai'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { onGoogleCloud } from '../../plugins/providers/vertex/google-cloud.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { type Body, LOOP_CLIENTS, type LoopClient } from './clients.ts'
import { answer, type HeardCall, mayHave, PRESET_VENDORS, stateOf, VENDORS, type Vendor } from './vendors.ts'

/** Turns with a call before the end. */
const TURNS = 3

/** Each ordered pair. */
const pairs = VENDORS.flatMap((giver) => VENDORS.map((taker) => [giver, taker] as const))
/** Each preset gives to the next one. */
const ring = PRESET_VENDORS.map((giver, index) => [giver, PRESET_VENDORS[(index + 1) % PRESET_VENDORS.length]!] as const)
const ALL = [...VENDORS, ...PRESET_VENDORS]
const cases = LOOP_CLIENTS.flatMap((client) => [false, true].map((stream) => ({ client, stream })))

const size = `${pairs.length} ordered pairs of ${VENDORS.length} vendors and ${ring.length} of presets, ${cases.length} ways each`

describe(`A conversation that changes its model: ${size}`, () => {
  onGoogleCloud()
  const upstreams = new Map<Vendor, ScriptedUpstream>()
  const faults: string[] = []
  let gateway: TestGateway

  before(async () => {
    const namespaces: Record<string, object> = {}
    for (const [index, vendor] of ALL.entries()) {
      const upstream = await scriptedUpstream()
      upstreams.set(vendor, upstream)
      upstream.on((request) => {
        const { script, heard, refused } = answer(vendor, request, TURNS)
        if (refused !== undefined) faults.push(`${vendor.name} refuses: ${refused}`)
        seen = heard
        return script
      })
      namespaces[`n${index}`] = { ...vendor.namespace(upstream.origin), breaker: false }
    }
    gateway = await startTestGateway({ env: { KEY: 'key-of-upstream' }, routes: { chain: [{ plugin: 'auth' }], namespaces } })
  })
  after(async () => {
    await gateway?.stop()
    for (const upstream of upstreams.values()) await upstream.close()
  })

  /** The calls in the last request that an upstream got. */
  let seen: readonly HeardCall[] = []

  async function ask(client: LoopClient, vendor: Vendor, body: Body, stream: boolean): Promise<Body> {
    const model = `n${ALL.indexOf(vendor)}/${vendor.model}`
    const reply = await gateway.fetch(client.path, { json: { model, ...body, stream } })
    const words = await reply.text()
    expect(reply.status, `${client.name} on ${vendor.name}: ${faults.at(-1) ?? ''} ${words}`).to.equal(200)
    const parts = client.read(words, stream)
    const results = client.calls(parts).map((id) => ({ id, output: 'Not there.' }))
    return client.next(body, parts, results, results.length === 0 ? 'Go on.' : undefined)
  }

  /** The conversation after the first turn, which is the same for each taker. */
  const begun = new Map<string, Promise<Body>>()

  function begin(giver: Vendor, { client, stream }: (typeof cases)[number]): Promise<Body> {
    const key = `${giver.name} ${client.name} ${stream}`
    const known = begun.get(key) ?? ask(client, giver, client.begin('Where is it?'), stream)
    begun.set(key, known)
    return known
  }

  /** A vendor has got its own state, and that of no other. */
  function expectOwnState(client: LoopClient, vendor: Vendor): void {
    for (const { by, turn, state } of vendor.reply === undefined ? [] : seen) {
      const isOwn = by === vendor.name && vendor.forgets?.includes(client.name) !== true
      if (isOwn) expect(state, `${client.name}: own state of turn ${turn} at ${vendor.name}`).to.equal(stateOf({ by, turn }))
      else if (!mayHave(vendor, by, client.name))
        expect(state, `${client.name}: state of ${by} at ${vendor.name}`).to.equal(undefined)
    }
  }

  for (const [giver, taker] of [...pairs, ...ring]) {
    it(`from ${giver.name} to ${taker.name}, and back`, async () => {
      for (const { client, stream } of cases) {
        let body = await begin(giver, { client, stream })
        for (const vendor of [taker, giver]) {
          body = await ask(client, vendor, body, stream)
          expectOwnState(client, vendor)
        }
      }
    })
  }
})
