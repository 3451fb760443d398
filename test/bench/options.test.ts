import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { EXPLAINED, type Options, readOptions, USAGE } from '../../bench/options.ts'
import { PEERS } from '../../bench/peers.ts'
import { SCENARIOS } from '../../bench/scenarios.ts'
import { VARIANTS } from '../../bench/variants.ts'

/** Of a command line that does not ask for help. */
const optionsOf = (...args: readonly string[]): Options => readOptions(args)!

const namesOf = (table: readonly { readonly name: string }[]) => table.map(({ name }) => name)

describe('the command line of the benchmark', () => {
  it('measures all scenarios five times, and no peers, unless told otherwise', () => {
    expect(optionsOf()).to.deep.equal({
      rounds: 5,
      scenarios: SCENARIOS,
      idleStreams: true,
      atRest: true,
      turns: true,
      variants: [],
      peers: [],
    })
  })

  it('measures the scenarios that are named, in that order', () => {
    const { rounds, scenarios } = optionsOf('--scenarios', 'stream,small', '--rounds', '2')
    expect(rounds).to.equal(2)
    expect(namesOf(scenarios)).to.deep.equal(['stream', 'small'])
  })

  it('measures all peers with --peers, wherever it stands', () => {
    for (const args of [['--peers'], ['--peers', '--rounds', '1'], ['--rounds', '1', '--peers']])
      expect(optionsOf(...args).peers).to.deep.equal(PEERS)
  })

  it('measures the peers that are named with --peers=', () => {
    expect(namesOf(optionsOf('--peers=litellm,envoy').peers)).to.deep.equal(['litellm', 'envoy'])
  })

  it('measures gateways with other settings with --variants, all or those that are named', () => {
    expect(optionsOf('--variants', '--rounds', '1'))
      .to.include({ rounds: 1 })
      .and.deep.include({ variants: VARIANTS })
    expect(namesOf(optionsOf('--variants=two-workers,budget').variants)).to.deep.equal(['two-workers', 'budget'])
  })

  it('compares this checkout with a commit in twelve rounds, without idle streams, with --against', () => {
    expect(optionsOf('--against', 'HEAD~3')).to.deep.equal({
      rounds: 12,
      scenarios: SCENARIOS,
      idleStreams: false,
      atRest: false,
      turns: false,
      variants: [],
      peers: [],
      against: 'HEAD~3',
    })
    expect(optionsOf('--against=main', '--rounds', '20')).to.include({ rounds: 20, against: 'main' })
  })

  it('measures nothing if it is asked for help', () => {
    expect(readOptions(['--help'])).to.equal(undefined)
  })

  const wrong: readonly (readonly [args: readonly string[], complaint: string])[] = [
    [['--rounds', '0'], '--rounds is a whole number from 1 to 100.'],
    [['--rounds', '2.5'], '--rounds is a whole number from 1 to 100.'],
    [['--scenarios', 'tiny'], 'There is no scenario "tiny".'],
    [['--variants=three-workers'], 'There is no variant "three-workers".'],
    [['--peers=nginx'], 'There is no peer "nginx".'],
    [['--peers', 'envoy'], "Unexpected argument 'envoy'"],
    [['--against', 'HEAD', '--rounds', '11'], '--rounds is a whole number from 12 to 100 with --against.'],
    [['--against', 'HEAD', '--scenarios', 'idle-streams'], 'There is no scenario of --against "idle-streams".'],
    [['--against', 'HEAD', '--scenarios', 'at-rest'], 'There is no scenario of --against "at-rest".'],
    [['--against', 'HEAD', '--peers'], '--against compares two versions alone: run --variants and --peers without it.'],
    [['--against', 'HEAD', '--variants=budget'], '--against compares two versions alone'],
    [['--against'], "Option '--against <value>' argument missing"],
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

  it('explains its options as the documentation does', async () => {
    const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8')
    const [table] = page.match(/(?<=\| option .*\n\| -.*\n)(?:\|.*\n)+/)!
    const rows = table.matchAll(/^\| `([^`]+)` +\| (.*?) +\|$/gm)
    const plain = (text: string) => text.replaceAll('`', '').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    expect(Array.from(rows, ([, option, meaning]) => [option, plain(meaning!)])).to.deep.equal(EXPLAINED)
  })
})
