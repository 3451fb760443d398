import { expect } from 'chai'
import { createSimulator } from '../../../core/cli/config/simulator.ts'
import { withGeneration } from '../../../core/cli/generation.ts'
import { type TemporaryFolder, temporaryFolder } from '../config/temporary-folder.ts'

describe('the shares of the ways that calls go', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
  })

  after(() => folder?.remove())

  /** The shares of the calls in percent, by the model that serves them. */
  async function sharesOf(weights: readonly number[], options = ''): Promise<Readonly<Record<string, number>>> {
    const targets = weights.map((weight, index) => `{ model: sandbox/m${index + 1}, weight: ${weight} }`).join(', ')
    const file = folder.write(
      'routes.yaml',
      `version: 1\nnamespaces:\n  sandbox: { provider: sandbox }\n  acme: { models: { smart: { targets: [${targets}]${options} } } }\n`,
    )
    return withGeneration(file, {}, ({ table }) => {
      const ways = createSimulator(table)('acme/smart', { failing: new Map() })
      return Object.fromEntries(ways.map(({ end, share }) => [end, share * 100]))
    })
  }

  for (const weights of [
    [60, 40],
    [99, 1],
    [70, 20, 10],
    [25, 25, 25, 25],
    [50, 20, 10, 10, 5, 5],
  ])
    it(`are those of the weights ${weights.join('/')}`, async () => {
      const shares = await sharesOf(weights)
      for (const [index, weight] of weights.entries())
        expect(shares[`sandbox/m${index + 1}`], JSON.stringify(shares)).to.be.closeTo(weight, 0.5)
    })

  it('are near to the weights 60/40 where each key has its target', async () => {
    expect((await sharesOf([60, 40], ', sticky: key'))['sandbox/m1']).to.be.closeTo(60, 3)
  })
})
