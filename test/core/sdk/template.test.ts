import { expect } from 'chai'
import { compileTemplate } from 'unified-model-gateway/plugin'

const NAMES = ['model', 'key', 'header.*']

const fill = (text: string, values: Readonly<Record<string, string>>) => compileTemplate(text, NAMES).fill((name) => values[name])

describe('compileTemplate', () => {
  it('fills placeholders with their values', () => {
    expect(fill('{model} of {key}, {model}', { model: 'gpt-x', key: 'laptop' })).to.equal('gpt-x of laptop, gpt-x')
    expect(fill('{header.x-team}', { 'header.x-team': 'search' })).to.equal('search')
    expect(fill('no placeholder', {})).to.equal('no placeholder')
    expect(fill('', {})).to.equal('')
  })

  it('returns undefined if a value is undefined', () => {
    expect(fill('{model} of {key}', { model: 'gpt-x' })).to.equal(undefined)
    expect(fill('{model}', { model: '' })).to.equal('')
  })

  it('does not replace placeholders in values', () => {
    expect(fill('{model}{key}', { model: '{key}', key: '{{$&' })).to.equal('{key}{{$&')
  })

  it('writes {{ as a literal brace', () => {
    expect(fill('{{model} {{{model}} }', { model: 'x' })).to.equal('{model} {x} }')
  })

  it('lists the names of its placeholders', () => {
    expect(compileTemplate('{model}{header.x-a}{model}', NAMES).names).to.deep.equal(['model', 'header.x-a'])
  })

  for (const name of ['modle', '', ' model', 'header.', 'headers', 'toString']) {
    it(`refuses the placeholder {${name}} with a list of the allowed ones`, () => {
      expect(() => compileTemplate(`a {${name}}`, NAMES)).to.throw(`{${name}}; the known ones are {model}, {key}, {header.*}`)
    })
  }

  it('names the position of an unclosed brace', () => {
    expect(() => compileTemplate('a {model', NAMES)).to.throw('character 3')
    expect(() => compileTemplate('{model {key}', NAMES)).to.throw('character 1')
  })
})
