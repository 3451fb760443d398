import { expect } from 'chai'
import { readOptions, USAGE } from '../../bench/options.ts'
import { PEERS } from '../../bench/peers.ts'
import { SCENARIOS } from '../../bench/scenarios.ts'
import { VARIANTS } from '../../bench/variants.ts'

const namesOf = (table: readonly { readonly name: string }[]) => table.map(({ name }) => name)

describe('the command line of the benchmark', () => {
  it('measures all scenarios five times, and no peers, unless told otherwise', () => {
    expect(readOptions([])).to.deep.equal({ rounds: 5, scenarios: SCENARIOS, idleStreams: true, variants: [], peers: [] })
  })

  it('measures the scenarios that are named, in that order', () => {
    const { rounds, scenarios } = readOptions(['--scenarios', 'stream,small', '--rounds', '2'])
    expect(rounds).to.equal(2)
    expect(namesOf(scenarios)).to.deep.equal(['stream', 'small'])
  })

  it('measures all peers with --peers, wherever it stands', () => {
    for (const args of [['--peers'], ['--peers', '--rounds', '1'], ['--rounds', '1', '--peers']])
      expect(readOptions(args).peers).to.deep.equal(PEERS)
  })

  it('measures the peers that are named with --peers=', () => {
    expect(namesOf(readOptions(['--peers=litellm,envoy']).peers)).to.deep.equal(['litellm', 'envoy'])
  })

  it('measures gateways with other settings with --variants, all or those that are named', () => {
    expect(readOptions(['--variants', '--rounds', '1']))
      .to.include({ rounds: 1 })
      .and.deep.include({ variants: VARIANTS })
    expect(namesOf(readOptions(['--variants=two-workers,budget']).variants)).to.deep.equal(['two-workers', 'budget'])
  })

  const wrong: readonly (readonly [args: readonly string[], complaint: string])[] = [
    [['--rounds', '0'], '--rounds is a whole number from 1 to 100.'],
    [['--rounds', '2.5'], '--rounds is a whole number from 1 to 100.'],
    [['--scenarios', 'tiny'], 'There is no scenario "tiny".'],
    [['--variants=three-workers'], 'There is no variant "three-workers".'],
    [['--peers=nginx'], 'There is no peer "nginx".'],
    [['--peers', 'envoy'], "Unexpected argument 'envoy'"],
    [['--fast'], "Unknown option '--fast'"],
  ]
  for (const [args, complaint] of wrong) {
    it(`refuses ${args.join(' ')}`, () => {
      expect(() => readOptions(args)).to.throw(complaint)
    })
  }

  it('names every scenario, peer and variant in its usage', () => {
    for (const name of [...namesOf(SCENARIOS), ...namesOf(PEERS), ...namesOf(VARIANTS)]) expect(USAGE).to.contain(name)
  })
})
