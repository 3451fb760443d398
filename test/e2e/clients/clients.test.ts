import { expect } from 'chai'
import { describeWith } from '../../support/requirements.ts'
import { doTask, HELLO, tasksOf, titleOfTask } from './cases.ts'
import type { Client, Gateway } from './client.ts'
import { CLIENTS } from './clients.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { startPythons, versionOf } from './python-clients.ts'
import { CHAT_ONLY, VENDORS, type Vendor } from './vendors.ts'

/** Every client meets a strict vendor. All vendors are met by the newest clients of the protocols that are translated. */
const vendorsOf = ({ protocol, isEarlier }: Client): readonly Vendor[] =>
  isEarlier || protocol === 'chat' ? [CHAT_ONLY] : [...VENDORS, CHAT_ONLY]

describe('Official clients, with a model of each provider', () => {
  let fixture: Fixture
  let gateway: Gateway

  before(async () => {
    fixture = await startFixture()
    gateway = { ...fixture, pythons: startPythons(fixture) }
  })
  after(async () => {
    for (const python of gateway?.pythons.values() ?? []) await python.close()
    await fixture?.stop()
  })

  for (const client of CLIENTS) {
    const define = () => {
      if (client.python !== undefined)
        it('is of the major that its name says', async () => {
          expect(client.name.split(' ')[1]).to.equal((await versionOf(gateway, client)).split('.', 1)[0])
        })
      if (client.version !== undefined)
        it(`speaks version ${client.version} of the API`, async () => {
          const claude = [...fixture.models.values()].find(({ vendor }) => vendor.name === 'anthropic')!
          await doTask(client, 'stream', gateway, claude)
          for (const { version } of claude.asked) expect(version).to.equal(client.version)
        })
      for (const vendor of vendorsOf(client)) {
        for (const name of tasksOf(client)) {
          it(`${vendor.name} ${titleOfTask(name)}`, () => doTask(client, name, gateway, fixture.models.get(vendor)!))
        }
        it(`${vendor.name} breaks off its stream, which is an error`, async () => {
          const model = fixture.models.get(vendor)!
          model.breakOff(HELLO)
          const outcome = await client.tasks.stream(gateway, model.id).catch((error: unknown) => error)
          expect(outcome).to.be.instanceOf(Error)
          expect(model.asked).to.have.length(1)
        })
      }
    }
    const title = `${client.name}, ${client.protocol}`
    if (client.python === undefined) describe(title, define)
    else describeWith(client.python, title, define)
  }
})
