import { expect } from 'chai'
import { compileTemplate } from 'unified-model-gateway/plugin'

const NAMES = ['model', 'key', 'header.*']

const fill = (text: string, values: Readonly<Record<string, string>>) => compileTemplate(text, NAMES).fill((name) => values[name])

describe('a template', () => {
  it('has its places filled', () => {
    expect(fill('{model} of {key}, {model}', { model: 'gpt-x', key: 'laptop' })).to.equal('gpt-x of laptop, gpt-x')
    expect(fill('{header.x-team}', { 'header.x-team': 'search' })).to.equal('search')
    expect(fill('no place', {})).to.equal('no place')
    expect(fill('', {})).to.equal('')
  })

  it('is unknown where one of its values is', () => {
    expect(fill('{model} of {key}', { model: 'gpt-x' })).to.equal(undefined)
    expect(fill('{model}', { model: '' })).to.equal('')
  })

  it('does not look for places in values', () => {
    expect(fill('{model}{key}', { model: '{key}', key: '{{$&' })).to.equal('{key}{{$&')
  })

  it('holds literal braces', () => {
    expect(fill('{{model} {{{model}} }', { model: 'x' })).to.equal('{model} {x} }')
  })

  it('says which names it uses', () => {
    expect(compileTemplate('{model}{header.x-a}{model}', NAMES).names).to.deep.equal(['model', 'header.x-a'])
  })

  for (const name of ['modle', '', ' model', 'header.', 'headers', 'toString']) {
    it(`refuses the place {${name}} and says which there are`, () => {
      expect(() => compileTemplate(`a {${name}}`, NAMES)).to.throw(`{${name}}; the known ones are {model}, {key}, {header.*}`)
    })
  }

  it('says which brace is never closed', () => {
    expect(() => compileTemplate('a {model', NAMES)).to.throw('character 3')
    expect(() => compileTemplate('{model {key}', NAMES)).to.throw('character 1')
  })
})
